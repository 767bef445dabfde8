import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Pure rooms keep nothing between calls but what designs/0022 names. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const DESIGN = 'designs/0022-what-pure-rooms-keep-between-calls.md';
const ROOMS = ['api', 'collector', 'lifecycle', 'nodegc', 'cascade'];

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return /^test(ing)?$/.test(entry.name) ? [] : files(path);
    return entry.name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(entry.name) ? [path] : [];
  });
}

/** Objects of these are not changed by what can be called on them here. */
const UNCHANGING = /^new (?:TextDecoder|TextEncoder|RegExp|Intl)\b/;

/** Variables at module level that can be written after the module was loaded. The compiler holds what is typed as read-only. */
function variablesIn(source: string): string[] {
  const text = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/`(?:\\.|[^`\\])*`/g, '``');
  const declared = text.matchAll(/^(?:export )?(let|var|const) (\w+)(?::\s*([^;]+?))?(?: =(?![>=])\s*([^\n]*)|;)/gm);
  return [...declared]
    .filter(([, keyword, , type = '', value = '']) => {
      if (keyword !== 'const') return true;
      const made = value.startsWith('new ') && !UNCHANGING.test(value);
      const collection = made || /^(?:\[\]|\{\})(?: as |;|$)/.test(value);
      return collection && !/^(?:Readonly|readonly )/.test(type);
    })
    .map(([, , name = '']) => name);
}

function declaredInDesign(): string[] {
  const text = readFileSync(join(root, DESIGN), 'utf8');
  const rows = text.matchAll(/^\| `([\w/.-]+\.ts)` \| ([^|]+) \| (?:memo|scratch|constant) \| [^|]+ \| [^|]+ \|$/gm);
  return [...rows].flatMap(([, file = '', names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => `${file} ${name}`),
  );
}

describe('module state', () => {
  it('is found in every form, and constants are not taken for it', () => {
    const source = [
      'let a: string | undefined;',
      'export let b = 0;',
      'const c = new Map<string, number>();',
      'const d: number[] = [];',
      'const e: ReadonlyMap<string, number> = new Map();',
      'const f: readonly string[] = [];',
      "const g = new TextDecoder('utf-8');",
      'const h = (x: number): number[] => [];',
      'const i = new Uint8Array(4);',
      'function j() {\n  let k = 0;\n  const l = new Map();\n}',
      'const m: Fields = {};',
      "const n = ['a'] as const;",
    ].join('\n');
    expect(variablesIn(source)).toEqual(['a', 'b', 'c', 'd', 'i', 'm']);
  });

  it(`is in pure rooms only where ${DESIGN} says why`, () => {
    const found = ROOMS.flatMap((room) => files(join(root, 'src', room))).flatMap((file) =>
      variablesIn(readFileSync(file, 'utf8')).map((name) => `${relative(join(root, 'src'), file)} ${name}`),
    );
    expect(found.toSorted()).toEqual(declaredInDesign().toSorted());
  });
});
