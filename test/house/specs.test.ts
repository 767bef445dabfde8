import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The specification of the collector stays a page, and its table stays the table of the code. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const collector = join(root, 'src/collector');
const read = (path: string): string => readFileSync(join(collector, path), 'utf8');

/** The size that a reader sees at once, in lines, and in characters for tables with long lines. */
const FIRST_PAGE = { lines: 70, characters: 5000 };
const PAGE = { lines: 90, characters: 8000 };
const ROOMS = ['graph', 'decide', 'workers', 'monitors', 'operations', 'observation', 'trust', 'breaker'];
const MAX_WORDS = 10;

interface Row {
  readonly row: number;
  readonly condition: string;
  readonly verdict: string;
  readonly reason: string;
}

function tableOf(text: string): Row[] {
  return [...text.matchAll(/^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map((match) => {
    const [, row = '', condition = '', verdict = '', reason = ''] = match;
    return { row: Number(row), condition, verdict, reason };
  });
}

const sizeOf = (text: string): { lines: number; characters: number } => ({
  lines: text.trimEnd().split('\n').length,
  characters: text.length,
});

describe('collector/SPEC.md', () => {
  const text = read('SPEC.md');
  const table = tableOf(text);
  const code = [
    'decide/attempt-to-delete.ts',
    'decide/classify-owner.ts',
    'decide/facts.ts',
    'decide/actions.ts',
    'decide/process-deleting-dependents.ts',
  ]
    .map(read)
    .join('\n');

  it('is one page', () => {
    const { lines, characters } = sizeOf(text);
    expect(lines).toBeLessThanOrEqual(FIRST_PAGE.lines);
    expect(characters).toBeLessThanOrEqual(FIRST_PAGE.characters);
  });

  it('COL-090 has a decision table of fifteen rows, with cells of at most ten words', () => {
    expect(table.map(({ row }) => row)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
    const cells = table.flatMap(({ condition, verdict, reason }) => [condition, verdict, reason]);
    expect(cells.filter((cell) => cell.split(/\s+/).length > MAX_WORDS)).toEqual([]);
  });

  it('COL-090 says the conditions and actions of the table in words that the code has', () => {
    const words = table.flatMap(({ condition, verdict }) => [
      ...[...condition.matchAll(/`([\w.]+)`/g)].map(([, word = '']) => word.split('.').at(-1) ?? ''),
      ...[...verdict.matchAll(/\b[a-z]+[A-Z]\w+/g)].map(([word]) => word),
    ]);
    expect(words.length).toBeGreaterThan(20);
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(code))).toEqual([]);
  });

  it('names reasons of the catalogue', () => {
    const catalogue = read('types/reasons.ts');
    const reasons = table.flatMap(({ reason }) => [...reason.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect(reasons.length).toBeGreaterThan(15);
    expect(reasons.filter((name) => !new RegExp(`\\b${name}:`).test(catalogue))).toEqual([]);
  });

  it('has a page for each room below it, and links to them', () => {
    const missing = ROOMS.filter((room) => !existsSync(join(collector, room, 'SPEC.md')));
    expect(missing).toEqual([]);
    expect(ROOMS.filter((room) => !text.includes(`](${room}/SPEC.md)`))).toEqual([]);
    const long = ROOMS.filter((room) => {
      const { lines, characters } = sizeOf(read(`${room}/SPEC.md`));
      return lines > PAGE.lines || characters > PAGE.characters;
    });
    expect(long).toEqual([]);
  });
});
