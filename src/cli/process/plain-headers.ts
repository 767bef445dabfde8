type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/**
 * The part of `Headers` that gRPC needs. Node's own class loads all of `fetch`, 7 MiB that a program on a node does not need. Names are in
 * lower case; values of one name are joined with a comma, as in Node's class.
 */
export class PlainHeaders {
  readonly #values = new Map<string, string>();

  constructor(init: Init = []) {
    const pairs = Symbol.iterator in init ? (init as Iterable<readonly [string, string]>) : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: string): void {
    const known = this.get(name);
    this.set(name, known === null ? value : `${known}, ${String(value).trim()}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  *[Symbol.iterator](): IterableIterator<[string, string]> {
    yield* [...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  entries(): IterableIterator<[string, string]> {
    return this[Symbol.iterator]();
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }
}

/** Replaces `Headers` by {@link PlainHeaders} in this process. Only for a process without `fetch`. */
export function usePlainHeaders(): void {
  Object.defineProperty(globalThis, 'Headers', { value: PlainHeaders, configurable: true, writable: true });
}
