import { type Command, Option } from 'commander';

/** One flag of a command, in commander's notation. */
export interface OptionRow {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
  /** The heading of its group in the help. */
  readonly group: string;
}

const append = (value: string, previous: string[] | undefined): string[] => [...(previous ?? []), value];

/** Adds the flags to a command in the order of the rows, each under its heading. */
export function addOptions(command: Command, rows: readonly OptionRow[]): void {
  for (const row of rows) {
    const option = new Option(row.flags, row.description).helpGroup(row.group);
    if (row.choices !== undefined) option.choices(row.choices);
    if (row.repeatable === true) option.argParser(append);
    command.addOption(row.default === undefined ? option : option.default(row.default));
  }
}
