/** A word for a POSIX shell, with any content. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if the text needs none. */
export function shellWord(text: string): string {
  return /^[\w./:,=@%+-]+$/.test(text) ? text : shellQuoted(text);
}
