import { type Command, Option } from 'commander';

/** One flag of a command, in commander's notation. */
export interface CommandOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** May be given several times; the value is a list. */
  readonly repeatable?: true;
  /** Accepted and in the reference page, but not in `--help`, because kubectl's own help describes it. */
  readonly hidden?: true;
}

const append = (value: string, previous: string[] | undefined): string[] => [...(previous ?? []), value];

/** Adds the flags to the command, in this order. Returns the command. */
export function withOptions(command: Command, options: readonly CommandOption[]): Command {
  for (const each of options) {
    const option = new Option(each.flags, each.description);
    if (each.choices) option.choices([...each.choices]);
    if (each.hidden) option.hideHelp();
    if (each.repeatable) option.argParser(append);
    command.addOption(each.default === undefined ? option : option.default(each.default));
  }
  return command;
}
