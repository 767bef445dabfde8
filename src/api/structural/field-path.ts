/** The path of a member in field errors. The empty path is the root. */

export function child(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** The path of a map key: `properties[spec]`. */
export function keyed(path: string, key: string): string {
  return `${path}[${key}]`;
}

export function indexed(path: string, index: number): string {
  return `${path}[${index}]`;
}
