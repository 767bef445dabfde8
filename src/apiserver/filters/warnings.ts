/** Value of a `Warning` header (API-010): RFC 7234 code 299, no agent, quotes and backslashes escaped. */
export function warningHeader(text: string): string {
  // A line break or control character would end the header early.
  const printable = text.replace(/[\p{Cc}\p{Cs}]/gu, ' ').replace(/["\\]/g, '\\$&');
  // Node treats header bytes as Latin-1; clients decode them as UTF-8.
  return `299 - "${Buffer.from(printable, 'utf8').toString('latin1')}"`;
}
