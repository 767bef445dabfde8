import type { Random } from '../../../base/random/random.ts';

/** The alphabet has no vowels and similar characters, so that no words occur (apimachinery `pkg/util/rand`). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Maximum length of the base, so that the name is a valid DNS label of 63 characters. */
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** Maximum number of names that a create with generateName tries before it answers 409 (API-061). */
export const NAME_GENERATION_ATTEMPTS = 8;

/** The base, truncated, and five random characters (API-061). */
export function generateName(base: string, random: Random): string {
  let name = base.length > MAX_BASE_LENGTH ? base.slice(0, MAX_BASE_LENGTH) : base;
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += ALPHABET[random.integer(ALPHABET.length)];
  return name;
}
