// Bundles the command and what can be imported into dist/: small entries and chunks that load when first needed, so that
// start-up pays only for what `kubegc up` uses at once. Everything but the optional store is bundled; an installed package
// has no dependencies.
import { build } from 'esbuild';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join, relative, resolve } from 'node:path';
import { emitTypes } from './emit-types.mjs';
import { thirdPartyLicenses } from './third-party-licenses.mjs';
import { undiciConnections } from './undici-connections.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version, exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const outdir = join(root, 'dist');

/** The files in dist that can be imported, by name: the export map says which source each declaration comes from. */
const doors = Object.fromEntries(
  Object.values(exports)
    .filter((door) => typeof door === 'object')
    .map((door) => [
      door.default.replace(/^\.\/dist\/|\.js$/g, ''),
      door.types.replace(/^\.\/dist\/types\/(.*)\.d\.ts$/, 'src/$1.ts'),
    ]),
);

/**
 * Files of the server that some other file loads with `import('…')`, and that none imports at once: in a file of both kinds the import of `up`
 * below would close a cycle, and its values would be undefined where they are first read.
 */
function loadedOnDemand() {
  const source = join(root, 'src');
  const server = ['apiserver', 'lifecycle'].map((room) => join(source, room));
  const files = readdirSync(source, { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(source, name));
  const targets = (pattern) =>
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, target]) => resolve(dirname(file), target)),
    );
  const imported = new Set(targets(/^(?:import|export)\s(?!type\b)[^;]*?from\s+'(\.[^']+)'/gm));
  const lazy = targets(/\bimport\(\s*'(\.[^']+)'\s*\)/g);
  return new Set(lazy.filter((target) => server.some((room) => target.startsWith(room)) && !imported.has(target)));
}

/**
 * Makes the parts that the server loads on demand import `up` as well, which is loaded by then. Then the code that `up` needs at once is
 * shared by the same entries, and comes in a dozen chunks instead of forty: one file more costs as much time as 20 KB more.
 */
const fewChunks = {
  name: 'few-chunks',
  setup(plugins) {
    const onDemand = loadedOnDemand();
    const up = JSON.stringify(join(root, 'src', 'cli', 'up', 'up.ts'));
    plugins.onLoad({ filter: /\.ts$/ }, ({ path }) =>
      onDemand.has(path) ? { contents: `${readFileSync(path, 'utf8')}\nimport ${up};\n`, loader: 'ts' } : undefined,
    );
  },
};

/** Links the commands into node_modules/.bin. There `npx kubegc` finds its own; else npx packs, installs and builds this folder once more. */
function linkCommands() {
  const folder = join(root, 'node_modules', '.bin');
  if (process.platform === 'win32' || !existsSync(folder)) return;
  for (const [name, file] of Object.entries(bin)) {
    const link = join(folder, name);
    rmSync(link, { force: true });
    symlinkSync(relative(folder, join(root, file)), link);
  }
}

rmSync(outdir, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  entryPoints: { kubegc: 'src/cli/kubegc.ts', ...doors },
  // The test runner is the user's: its matchers and ours have to meet.
  external: ['vitest'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  // ES modules where a library has them: what is not used is left out.
  mainFields: ['module', 'main'],
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: false,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [undiciConnections, fewChunks],
  define: { KUBEGC_VERSION: JSON.stringify(version) },
  // Bundled CommonJS dependencies still ask for Node's own modules with require(). Test runners that give each file a context of its own
  // (Jest, vitest's vmThreads) have a Symbol without what Node 20 adds to its own; the name is what `using` falls back to.
  banner: {
    js:
      "import{createRequire as __kubegcRequire}from'node:module';const require=__kubegcRequire(import.meta.url);" +
      "Symbol.dispose??=Symbol.for('Symbol.dispose');Symbol.asyncDispose??=Symbol.for('Symbol.asyncDispose');",
  },
  metafile: true,
  logLevel: 'warning',
});
chmodSync(join(outdir, 'kubegc.js'), 0o755);
// For `npm run licenses`, and the test that compares it with what ships.
mkdirSync(join(root, '.cache'), { recursive: true });
writeFileSync(join(root, '.cache/THIRD-PARTY-LICENSES'), thirdPartyLicenses(root, result.metafile));
linkCommands();
const files = Object.keys(result.metafile.outputs);
const bytes = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
const types = emitTypes(
  root,
  Object.values(doors).map((file) => file.replace(/^src\//, '')),
);
const kib = (count) => `${(count / 1024).toFixed(0)} KiB`;
console.log(`dist: ${files.length} files, ${kib(bytes)}; declarations: ${types.files} files, ${kib(types.bytes)}`);
if (process.argv.includes('--analyze')) {
  const entry = Object.entries(result.metafile.outputs).filter(([, output]) => output.bytes > 20_000);
  for (const [file, output] of entry.toSorted((a, b) => b[1].bytes - a[1].bytes)) {
    console.log(`${file}: ${output.bytes}`);
    const inputs = Object.entries(output.inputs).toSorted((a, b) => b[1].bytesInOutput - a[1].bytesInOutput);
    for (const [input, { bytesInOutput }] of inputs.slice(0, 12)) console.log(`   ${bytesInOutput}\t${input}`);
  }
}
