const BACKSLASH = 0x5c;

/** The index after the JSON string whose opening quote is at `start`; the length of the text if the string is not closed. */
export function skipString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) {
    let slashes = 1;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) break;
    end = text.indexOf('"', end + 1);
  }
  return end < 0 ? text.length : end + 1;
}
