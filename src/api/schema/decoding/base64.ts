const A = 0x41;
const Z = 0x5a;

/** The index of the first character that standard base64 does not allow; undefined if all are allowed. */
function firstFault(text: string): number | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const end = text.length - padding;
  for (let i = 0; i < end; i++) {
    const c = text.charCodeAt(i);
    const letter = (c >= A && c <= Z) || (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39);
    if (!letter && c !== 0x2b && c !== 0x2f) return i;
  }
  return text.length % 4 === 0 ? undefined : text.length - (text.length % 4);
}

/**
 * Standard base64 as Go prints it: padded, without line breaks, unused bits zero.
 *
 * @returns the canonical text, or the index of the offending byte
 */
export function canonicalBase64(text: string): string | number {
  const compact = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, '') : text;
  const fault = firstFault(compact);
  if (fault !== undefined) return fault;
  // Only a padded last group has unused bits, so only then can the text differ from its canonical form.
  if (!compact.endsWith('=')) return compact;
  const last = compact.slice(-4);
  return compact.slice(0, -4) + Buffer.from(last, 'base64').toString('base64');
}
