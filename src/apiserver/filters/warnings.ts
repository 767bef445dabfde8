/** Value of a `Warning` header (API-010): RFC 7234 code 299, no agent, quotes and backslashes escaped. */
export function warningHeader(text: string): string {
  // A line break or a control character would end the header early.
  const printable = text.replace(/[\p{Cc}\p{Cs}]/gu, ' ').replace(/["\\]/g, '\\$&');
  // Header bytes are Latin-1 to Node; the UTF-8 bytes are what clients decode.
  return `299 - "${Buffer.from(printable, 'utf8').toString('latin1')}"`;
}
