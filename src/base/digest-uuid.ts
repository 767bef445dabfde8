import { createHash } from 'node:crypto';

/** The first 128 bits of the SHA-256 of texts, in the form of a uuid. No text may contain a NUL, which stands between them. */
export function digestUuid(...texts: readonly string[]): string {
  const hex = createHash('sha256').update(texts.join('\u0000')).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
