// Programs of the test tree in one file each, so that nothing is loaded while they run.
import { build } from 'esbuild';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bundles a TypeScript file of the project, and answers with the path of the result, which goes with this process. */
export async function bundledProgram(entry) {
  const folder = join(root, 'node_modules', '.cache', 'kubegc');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, `${basename(entry, '.ts')}-${process.pid}.mjs`);
  process.on('exit', () => rmSync(program, { force: true }));
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    sourcemap: 'inline',
    // Bundled CommonJS dependencies still ask for Node's own modules with require().
    banner: {
      js: "import{createRequire as __kubegcRequire}from'node:module';const require=__kubegcRequire(import.meta.url);",
    },
  });
  return program;
}
