import { Command } from 'commander';
import { explainCommand } from './take-back/explain-command.ts';
import { lintCommand } from './take-back/lint-command.ts';
import { logCommand } from './take-back/log-command.ts';
import { deleteCommand, waitCommand } from './cascade/delete-command.ts';
import { previewCommand } from './cascade/preview-command.ts';
import { graphCommand, topCommand, treeCommand } from './cascade/tree-command.ts';
import { recordCommand } from './take-back/record-command.ts';
import { relinkCommand } from './take-back/relink-command.ts';
import { undeleteCommand, undoCommand } from './take-back/undo-command.ts';
import type { Terminal } from './process/terminal.ts';

/** Sets the exit code of the command. */
export type SetExitCode = (code: number) => void;

/** Builds one subcommand; each has a file of its own beside this one. */
export type Subcommand = (terminal: Terminal, setExitCode: SetExitCode) => Command;

/** In the order of the help. */
const subcommands: readonly Subcommand[] = [
  previewCommand,
  deleteCommand,
  waitCommand,
  treeCommand,
  graphCommand,
  topCommand,
  logCommand,
  undoCommand,
  undeleteCommand,
  relinkCommand,
  lintCommand,
  explainCommand,
  recordCommand,
];

/** `kubegc cascade`, which is also `kubectl cascade`. */
export function cascadeCommand(terminal: Terminal, setExitCode: SetExitCode): Command {
  const command = new Command('cascade')
    .summary('See what a deletion takes with it, carry it out, and take it back')
    .description(
      'See what a deletion takes with it, carry it out, and take it back, on any cluster.\n\n' +
        'Installed as kubectl-cascade too, so that kubectl cascade is the same command.',
    );
  for (const subcommand of subcommands) command.addCommand(subcommand(terminal, setExitCode));
  return command;
}
