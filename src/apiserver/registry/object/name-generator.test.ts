import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../base/random/random.ts';
import { generateName } from './name-generator.ts';

describe('name generator', () => {
  it('API-061 appends five characters of the alphabet', () => {
    const random = seededRandom(1);
    for (let i = 0; i < 200; i++) {
      expect(generateName('web-', random)).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    }
  });

  it('API-061 cuts the base to 58 characters', () => {
    const name = generateName('a'.repeat(80), seededRandom(2));
    expect(name).toHaveLength(63);
    expect(name.startsWith('a'.repeat(58))).toBe(true);
  });
});
