// Writes dist/types: the declarations behind the export map, and of the rest of the sources only what these refer to.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const importPattern = /(from |import\()(['"])(\.{1,2}\/[^'"]+?)\.ts\2/g;

/** Returns how many bytes are kept. `entries` are paths below src. */
export function emitTypes(root, entries) {
  const outdir = join(root, 'dist/types');
  rmSync(outdir, { recursive: true, force: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.types.json')], { encoding: 'utf8' });
  } catch (error) {
    // Errors in the sources are for `npm run typecheck` to report; the declarations are there all the same.
    if (!entries.every((entry) => existsSync(declarationOf(outdir, entry)))) throw error;
  }
  const kept = new Map();
  const keep = (file) => {
    if (kept.has(file)) return;
    const text = readFileSync(file, 'utf8');
    kept.set(file, text);
    for (const [, , , path] of text.matchAll(importPattern)) keep(resolve(dirname(file), `${path}.d.ts`));
  };
  for (const entry of entries) keep(declarationOf(outdir, entry));
  prune(outdir, kept);
  let bytes = 0;
  for (const [file, text] of kept) {
    // A package is read by compilers that know `.js` for a module whose declaration lies beside it.
    const published = text.replace(importPattern, '$1$2$3.js$2');
    writeFileSync(file, published);
    bytes += published.length;
  }
  return { files: kept.size, bytes };
}

const declarationOf = (outdir, entry) => join(outdir, entry.replace(/\.ts$/, '.d.ts'));

function prune(directory, kept) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) prune(path, kept);
    else if (!kept.has(path)) rmSync(path);
  }
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}
