import { delimiter, join } from 'node:path';
import { shellWord } from './shell-quoted.ts';
import type { Terminal } from './terminal.ts';

export interface CallingKubectl {
  /** `KUBECTL_PATH`: kubectl from 1.37 on says there which program started the plugin. */
  readonly path: string | undefined;
  /** `PATH` */
  readonly searchPath: string;
  readonly exists: (file: string) => boolean;
}

/** Commands that are printed for a person, not names of programs such as `kubectl-cascade`. */
const COMMAND = /(?<![\w./-])kubectl (?=[a-z])/g;

/**
 * A terminal whose printed commands begin with the kubectl that started the plugin, so that a person can run them as they are (CAS-055).
 * Returns the same terminal if a shell finds that kubectl by its name, or if that kubectl is not known.
 */
export function namingKubectl(terminal: Terminal, { path, searchPath, exists }: CallingKubectl): Terminal {
  if (path === undefined || path === '') return terminal;
  const files = searchPath.split(delimiter).map((directory) => join(directory, 'kubectl'));
  if (files.find(exists) === path) return terminal;
  const command = `${shellWord(path)} `;
  const named = (text: string): string => text.replace(COMMAND, () => command);
  return {
    ...terminal,
    stdout: (text) => terminal.stdout(named(text)),
    stderr: (text) => terminal.stderr(named(text)),
  };
}
