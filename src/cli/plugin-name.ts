import { basename } from 'node:path';

/** Names under which kubectl finds the same program as a plugin, and the words that each stands for. */
const PLUGINS: Readonly<Record<string, readonly string[]>> = {
  'kubectl-cascade': ['cascade'],
  'kubectl-undelete': ['cascade', 'undelete'],
  // kubectl calls them with the words of a command line that is being typed.
  'kubectl_complete-cascade': ['__complete', 'cascade'],
  'kubectl_complete-undelete': ['__complete', 'cascade', 'undelete'],
};

/**
 * The words that a program is given by its name alone; none for `kubegc`.
 * @param program path as it was called, which a link keeps: `process.argv[1]`
 */
export function wordsOfName(program: string): readonly string[] {
  return PLUGINS[basename(program, '.js')] ?? [];
}
