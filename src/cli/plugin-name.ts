import { basename } from 'node:path';

/** Names under which kubectl finds this program as a plugin, with the words that each stands for. */
const PLUGINS: Readonly<Record<string, readonly string[]>> = {
  'kubectl-cascade': ['cascade'],
  'kubectl-undelete': ['cascade', 'undelete'],
  // kubectl calls them with the words of an unfinished command line.
  'kubectl_complete-cascade': ['__complete', 'cascade'],
  'kubectl_complete-undelete': ['__complete', 'cascade', 'undelete'],
};

/**
 * The words that a program's name stands for; none for `kubegc`.
 * @param program the path of the call, which keeps a link's name: `process.argv[1]`
 */
export function wordsOfName(program: string): readonly string[] {
  return PLUGINS[basename(program, '.js')] ?? [];
}
