/**
 * Rows in columns with an upper-case header, as kubectl prints them: three spaces between columns, none after the last.
 * @param rows of as many cells as the header
 */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => all.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]! + 3))).join('');
  return all.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** `1 object`, `12,345 objects`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
