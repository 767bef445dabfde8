// Writes schemas/: a JSON Schema of each document that a cascade or node command prints with `-o json`, from the types in
// src/cascade/documents and src/cli/node. They ship in the package; test/cascade/schemas.slow.test.ts compares them. `--check` writes nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folders of documents, and the files in them that have some. */
const sources = [
  { folder: join(root, 'src/cascade/documents'), files: '*.ts' },
  { folder: join(root, 'src/cli/node'), files: 'node-documents.ts' },
];

/** `{ kind, path, text }` of each document, sorted by kind. Throws when a type cannot be said as a JSON Schema. */
export function jsonSchemas() {
  return sources.flatMap(schemasOf).toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
}

function schemasOf({ folder, files }) {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(
        /^export interface (\w+) extends (?:Node)?Document<'(\w+)'>/gm,
      ),
    ]);
  const generator = createGenerator({
    path: join(folder, files),
    tsconfig: join(root, 'tsconfig.json'),
    // `npm run typecheck` does.
    skipTypeCheck: true,
    // A later kubegc may add a field to a document of this version.
    additionalProperties: true,
    topRef: false,
    expose: 'export',
  });
  return names.map(([, type, kind]) => {
    const { $schema, ...schema } = generator.createSchema(type);
    const titled = { $schema, title: kind, ...schema };
    return { kind, path: join(root, 'schemas', `${kind}.json`), text: `${JSON.stringify(titled, undefined, 2)}\n` };
  });
}

/** Names of the files in schemas/ that are not as the types say, or belong to no document. */
export function staleSchemas(schemas) {
  const wanted = new Set(schemas.map(({ path }) => basename(path)));
  const folder = join(root, 'schemas');
  const unknown = existsSync(folder) ? readdirSync(folder).filter((name) => !wanted.has(name)) : [];
  const changed = schemas.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  return [...unknown, ...changed.map(({ path }) => basename(path))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const schemas = jsonSchemas();
  const stale = staleSchemas(schemas);
  if (process.argv.includes('--check')) {
    if (stale.length > 0) console.error(`Out of date: ${stale.join(', ')}. Run: npm run schemas`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    rmSync(join(root, 'schemas'), { recursive: true, force: true });
    mkdirSync(join(root, 'schemas'));
    for (const { path, text } of schemas) writeFileSync(path, text);
    console.log(`schemas: ${schemas.length} written, ${stale.length} changed`);
  }
}
