import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const bundled = [...read('.cache/THIRD-PARTY-LICENSES').matchAll(/^={80}\n(\S+) \S+ \(.*\)\n={80}$/gm)].map(
  ([, name = '']) => name,
);

/** `npm run build && npm run licenses` mends it. */
describe('THIRD-PARTY-LICENSES', () => {
  it('has the licence of every package in the bundle, and of no other', () => {
    expect(read('THIRD-PARTY-LICENSES')).toBe(read('.cache/THIRD-PARTY-LICENSES'));
    expect(bundled.length).toBeGreaterThan(10);
  });

  it('ships, and NOTICE points to it', () => {
    const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
    expect(files).toContain('THIRD-PARTY-LICENSES');
    expect(read('NOTICE')).toContain('THIRD-PARTY-LICENSES');
  });
});
