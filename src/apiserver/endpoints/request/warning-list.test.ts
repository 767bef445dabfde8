import { describe, expect, it } from 'vitest';
import { WarningList } from './warning-list.ts';

function listOf(...texts: readonly string[]): readonly string[] {
  const list = new WarningList();
  for (const text of texts) list.add(text);
  return list.texts;
}

describe('WarningList', () => {
  it('API-010 keeps the order, says the same once, and an empty text not at all', () => {
    expect(listOf('b', 'a', '', 'b')).toEqual(['b', 'a']);
  });

  it('API-010 4096 characters fit as they are', () => {
    const halves = ['a'.repeat(2048), '😀'.repeat(2048)];
    expect(listOf(...halves)).toEqual(halves);
  });

  it('API-010 beyond them each is cut to 256, also those that come later', () => {
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(2000));
    expect(listOf(...long, 'short', '😀'.repeat(300))).toEqual([
      'a'.repeat(256),
      'b'.repeat(256),
      'c'.repeat(256),
      'short',
      '😀'.repeat(256),
    ]);
  });

  it('API-010 when the cut ones are too long as well no more come', () => {
    const many = Array.from({ length: 40 }, (_, index) => `${index}-`.padEnd(300, 'x'));
    const texts = listOf(...many);
    expect(texts).toHaveLength(16);
    expect(texts.at(-1)).toBe('15-'.padEnd(256, 'x'));
  });
});
