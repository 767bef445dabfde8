import type { Random } from '../../../base/random/random.ts';

/** Without vowels and look-alikes, so that no words appear (apimachinery `pkg/util/rand`). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Longest base kept: the name stays a valid DNS label of 63 characters. */
const MAX_BASE_LENGTH = 63 - SUFFIX_LENGTH;

/** API-061: how often a create with generateName tries another name before it answers 409. */
export const NAME_GENERATION_ATTEMPTS = 8;

/** API-061: the base, cut, and five random characters. */
export function generateName(base: string, random: Random): string {
  let name = base.length > MAX_BASE_LENGTH ? base.slice(0, MAX_BASE_LENGTH) : base;
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += ALPHABET[random.integer(ALPHABET.length)];
  return name;
}
