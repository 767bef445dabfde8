import { CommandError } from '../process/command-error.ts';

/** The values of each flag on a command line in Go's notation, in order. */
export class GoFlags {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  get names(): readonly string[] {
    return [...this.#values.keys()];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value wins, as in Go. */
  value(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  /** The values of a repeatable flag, whose values are comma-separated lists. */
  list(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '');
  }
}

/**
 * Parses `--name=value`, `--name value`, and `--name` alone, which is `true`. A value with a leading dash needs `=`. The parser does not
 * know which flags are switches, because programs that foreign test frameworks start must accept unknown flags.
 */
export function parseGoFlags(args: readonly string[]): GoFlags {
  const values = new Map<string, string[]>();
  for (let index = 0; index < args.length; index++) {
    const match = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/.exec(args[index] ?? '');
    if (match === null)
      throw new CommandError(`unexpected argument "${args[index]}"`, 'Flags are given as --NAME=VALUE.');
    const [, name = '', attached] = match;
    const next = args[index + 1];
    const separate = attached === undefined && next !== undefined && !next.startsWith('-');
    if (separate) index++;
    const value = attached ?? (separate ? next : 'true');
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return new GoFlags(values);
}
