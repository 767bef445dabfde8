import { createHash } from 'node:crypto';
import { formatUuid } from './uuid.ts';

/** The first 128 bits of the SHA-256 of texts, in the form of a uuid. No text may contain a NUL, which is the separator. */
export function digestUuid(...texts: readonly string[]): string {
  const digest = createHash('sha256').update(texts.join('\u0000')).digest();
  return formatUuid(digest.readInt32BE(0), digest.readInt32BE(4), digest.readInt32BE(8), digest.readInt32BE(12));
}
