import { describe, expect, it } from 'vitest';
import { textPieces } from './text-pieces.ts';

describe('pieces of a text', () => {
  it.each([0, 1, 2, 20_000])('are all of %i lines, each with its newline', (count) => {
    const lines = Array.from({ length: count }, (_, n) => 'x'.repeat(n % 31));
    const pieces = [...textPieces(lines)];
    expect(pieces.join('')).toBe(lines.map((line) => `${line}\n`).join(''));
    expect(pieces.every((piece) => piece.length > 0 && piece.length < 70_000)).toBe(true);
    expect(pieces.slice(0, -1).every((piece) => piece.length >= 65_536)).toBe(true);
  });
});
