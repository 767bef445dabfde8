/**
 * Appends any number of items to a list. `push(...items)` passes each item as an argument on the stack, which has space for some 100,000 (a
 * request of 3 MiB can have as many errors).
 */
export function append<T>(list: T[], ...more: readonly (readonly T[])[]): void {
  for (const items of more) {
    for (const item of items) list.push(item);
  }
}
