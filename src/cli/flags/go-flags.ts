import { CommandError } from '../process/command-error.ts';

/** The values of each flag on a command line in the notation of Kubernetes' own programs, in order. */
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

  /** The last one counts, as for them. */
  value(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  /** The values of a flag that may be repeated, and whose values are lists separated by commas. */
  list(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '');
  }
}

/**
 * `--name=value`, `--name value`, and `--name` alone, which is `true`. A value never begins with a dash unless it is given
 * with `=`: the parser does not know which flags are switches, because programs that are started by somebody else's test
 * framework have to bear flags that they do not know.
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
