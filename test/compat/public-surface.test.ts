import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
// @ts-expect-error -- a script without declarations
import { publicSurface } from '../../scripts/public-surface.mjs';

interface Door {
  readonly name: string;
  readonly page: string;
  readonly path: string;
  readonly undocumented: readonly string[];
}

/** Against the declarations of the built package: `npm run build && npm run surface` writes the pages. */
describe.each(publicSurface() as readonly Door[])('$name', ({ page, path, undocumented }) => {
  it('exports what its page in docs/api says, and nothing else', () => {
    expect(existsSync(path), `${path} is missing`).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(page);
  });

  it('has a docstring on everything', () => {
    expect(undocumented).toEqual([]);
  });
});
