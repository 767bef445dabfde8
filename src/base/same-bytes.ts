/** True if `bytes[start..end)` equals `text`. For short texts, for which a loop is faster than a call into the runtime. */
export function sameBytes(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}
