import { describe, expect, it } from 'vitest';
// @ts-expect-error -- a script without declarations
import { allowed, offencesByRoom, offencesIn, proseOf } from '../../scripts/plain-english.mjs';

/**
 * Prose that docs/STYLE.md forbids: in comments, test titles, pages, help, logs and errors. The counts in test/house/words may only shrink;
 * `npm run words` lists the offences, `npm run words -- --lower` writes smaller counts.
 */
interface Offence {
  readonly file: string;
  readonly line: number;
  readonly found: string;
}
interface Piece {
  readonly line: number;
  readonly kind: string;
  readonly text: string;
}
const found = offencesByRoom() as Record<string, Record<string, Offence[]>>;
const counts = allowed() as Record<string, Record<string, number>>;

function checksOf(file: string, content: string): string[] {
  return (proseOf(file, content) as Piece[]).flatMap((piece) =>
    (offencesIn(piece) as { check: string }[]).map(({ check }) => check),
  );
}

describe('the words of the repository', () => {
  it.each([...new Set([...Object.keys(found), ...Object.keys(counts)])].toSorted())(
    'are no worse in %s than they were, and a better count is written down',
    (room) => {
      const now = Object.fromEntries(
        Object.entries(found[room] ?? {}).map(([check, offences]) => [check, offences.length]),
      );
      const worse = Object.entries(found[room] ?? {})
        .filter(([check, offences]) => offences.length > (counts[room]?.[check] ?? 0))
        .flatMap(([check, offences]) =>
          offences.map(({ file, line, found: text }) => `${file}:${line}: ${check}: ${text}`),
        );
      expect(worse, 'docs/STYLE.md forbids one of these').toEqual([]);
      expect(now, 'write the smaller count down: npm run words -- --lower').toEqual(counts[room] ?? {});
    },
  );

  it.each([
    ['opening', 'a.ts', '// What is there stays.\n'],
    ['opening', 'a.ts', '/** Holds keys. Of each the newest value counts. */\n'],
    ['opening', 'a.test.ts', "it('of many the first wins', () => {});\n"],
    ['opening', 'a.md', '* Who writes waits.\n'],
    ['opening', 'a.md', 'That which is\nread is old.\n'],
    ['as … so', 'a.md', 'As the first, so the second.\n'],
    ['id alone', 'a.ts', '/** COL-210, 211. */\n'],
    ['he', 'a.ts', '// The server closes when he stops.\n'],
    ['section', 'a.ts', '// See section 7.\n'],
    ['news', 'a.ts', '// Waits for news.\n'],
    ['doubt', 'a.ts', "const text = 'the kind is in doubt now';\n"],
    ['end', 'a.ts', "// Waits for the owner's end.\n"],
    ['look', 'a.ts', '// A second look at the owner.\n'],
    ['told', 'a.ts', '// The reader is told.\n'],
    ['let go', 'a.ts', '// The lease is let go.\n'],
  ])('catch %s in %s: %j', (check, file, content) => {
    expect(checksOf(file, content)).toEqual([check]);
  });

  it.each([
    ['a.md', '## What is on the disk\n'],
    ['a.md', 'What is a cascade? A deletion of many.\n'],
    ['a.md', '```\nWhat a program prints.\n```\n'],
    ['a.ts', '// Calls `told`, then {@link tell}.\n'],
    ['a.ts', '// RFC 6901, section 4.\n'],
    ['a.ts', '// Requeue: the owner may still appear (COL-113).\n'],
    ['a.ts', "const url = 'told';\n"],
    ['a.test.ts', "expect('what he told us').toBe(1);\n"],
  ])('allow in %s: %j', (file, content) => {
    expect(checksOf(file, content)).toEqual([]);
  });
});
