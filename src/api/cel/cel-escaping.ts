/** Identifiers that are reserved words of the language, or may become reserved. */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** True for a reserved word, whose identifier is escaped. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/** The identifier for a property name in expressions; undefined for names that have none (apiserver `cel/escaping.go`). */
export function escapeIdentifier(name: string): string | undefined {
  if (name === '' || /^\d/.test(name) || !/^[\w./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (found) => ESCAPES[found] ?? found);
}
