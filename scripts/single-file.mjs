// Makes one executable file of kubegc and the Node.js that runs this script (Node's single executable applications), for machines
// without Node.js:
//   node scripts/single-file.mjs FILE
// That Node.js must have everything in one file, as those of nodejs.org and NodeSource have; Debian's own is a link to a library.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'postject';
import { undiciConnections } from './undici-connections.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const target = resolve(process.argv[2] ?? missingFile());
const work = join(root, '.cache', 'single-file');
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const smallestBytes = 20 * 1024 * 1024;

function missingFile() {
  console.error('usage: node scripts/single-file.mjs FILE');
  process.exit(2);
}

if (statSync(process.execPath).size < smallestBytes) {
  console.error(`${process.execPath} is not the whole of Node.js; run this with the one of nodejs.org or NodeSource.`);
  process.exit(1);
}

/** The script of such a file is CommonJS, which has no await outside of functions: the entry becomes one. */
const entryAsFunction = {
  name: 'entry-as-function',
  setup(plugins) {
    plugins.onLoad({ filter: /src\/cli\/kubegc\.ts$/ }, ({ path }) => {
      const lines = readFileSync(path, 'utf8')
        .replace(/^#!.*\n/, '')
        .split('\n');
      const first = lines.findIndex((line) => line !== '' && !line.startsWith('import '));
      const contents = [...lines.slice(0, first), '(async () => {', ...lines.slice(first), '})();'].join('\n');
      return { contents, loader: 'ts' };
    });
  },
};

mkdirSync(work, { recursive: true });
mkdirSync(dirname(target), { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/kubegc.ts'],
  outfile: join(work, 'kubegc.cjs'),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  plugins: [entryAsFunction, undiciConnections],
  define: { KUBEGC_VERSION: JSON.stringify(version) },
  banner: {
    js: "Symbol.dispose??=Symbol.for('Symbol.dispose');Symbol.asyncDispose??=Symbol.for('Symbol.asyncDispose');",
  },
  logLevel: 'warning',
});
writeFileSync(
  join(work, 'config.json'),
  JSON.stringify({
    main: join(work, 'kubegc.cjs'),
    output: join(work, 'kubegc.blob'),
    disableExperimentalSEAWarning: true,
  }),
);
execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'config.json')], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
rmSync(target, { force: true });
copyFileSync(process.execPath, target);
await inject(target, 'NODE_SEA_BLOB', readFileSync(join(work, 'kubegc.blob')), { sentinelFuse: fuse });
const mib = (statSync(target).size / 1024 / 1024).toFixed(0);
console.log(`${target}: kubegc ${version} with Node.js ${process.versions.node}, ${mib} MiB`);
