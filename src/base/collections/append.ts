/**
 * Puts items behind those of a list, however many: `push(...items)` hands each of them over as an argument, on the stack, which has
 * place for some 100,000 (a request of 3 MiB can have as many errors).
 */
export function append<T>(list: T[], ...more: readonly (readonly T[])[]): void {
  for (const items of more) {
    for (const item of items) list.push(item);
  }
}
