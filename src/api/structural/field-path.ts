/** Paths as field errors name them. The empty text is the root. */

export function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A key of a map: `properties[spec]`. */
export function keyed(path: string, key: string): string {
  return `${path}[${key}]`;
}

export function indexed(path: string, index: number): string {
  return `${path}[${index}]`;
}
