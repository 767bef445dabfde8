import type { Command } from 'commander';
import { systemRandom } from '../../base/random/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { recordFolder } from '../../cascade/record/record-folder.ts';
import { RecordStore } from '../../cascade/record/record-store.ts';
import { findResources } from '../../cascade/snapshot/find-resource.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { loadKubeconfig } from '../../client/kubeconfig/kubeconfig.ts';
import { openCluster } from '../command/cluster-access.ts';
import { systemKubeconfigIo } from '../process/system-kubeconfig-io.ts';
import type { Terminal } from '../process/terminal.ts';
import { type Choice, type Completion, completionOf } from './completion-request.ts';

/** Directives of cobra. kubectl passes their sum to the shell. */
const NO_SPACE = 2;
const NO_FILES = 4;
const DEFAULT = 0;

/** A short timeout, because a person waits at the keyboard. */
const TIMEOUT = '3s';
/** Maximum number of names. */
const MOST_NAMES = 500;

/**
 * Answers kubectl's plugin completion (`kubectl_complete-PLUGIN`): one choice per line, then `:` and a directive. A list that cannot be
 * read has no choices, because a completion must not print errors.
 * @param root has the command `cascade`
 * @param words `cascade` or `cascade undelete`, then the words of the command line
 */
export async function completePlugin(root: Command, words: readonly string[], terminal: Terminal): Promise<number> {
  const silent: Terminal = { stdout: () => undefined, stderr: () => undefined, columns: 80 };
  const completion = completionOf(root, words);
  const { request, toComplete } = completion;
  if (request.want === 'files') return answer([], DEFAULT, terminal);
  let choices: readonly Choice[] = [];
  try {
    choices = request.want === 'choices' ? request.choices : await readChoices(completion, silent);
  } catch {
    // There are no choices to offer.
  }
  const begun = choices.filter(({ value }) => value.startsWith(toComplete));
  const isUnended = begun.length > 0 && begun.every(({ value }) => value.endsWith('/') || value.endsWith('='));
  return answer(begun, isUnended ? NO_SPACE | NO_FILES : NO_FILES, terminal);
}

function answer(choices: readonly Choice[], directive: number, terminal: Terminal): number {
  const lines = choices.map(({ value, description }) => (description ? `${value}\t${description}` : value));
  terminal.stdout([...lines, `:${directive}`, ''].join('\n'));
  return 0;
}

async function readChoices({ request, flags }: Completion, terminal: Terminal): Promise<readonly Choice[]> {
  switch (request.want) {
    case 'records':
      return await recordChoices(flags['recordDir']);
    case 'contexts':
    case 'clusters':
    case 'users': {
      const path = flags['kubeconfig'];
      const config = await loadKubeconfig({ io: systemKubeconfigIo, ...(path === undefined ? {} : { path }) });
      return [...(config?.[request.want].keys() ?? [])].map((value) => ({ value }));
    }
    case 'choices':
    case 'files':
      return [];
    default:
      break;
  }
  const cluster = await openCluster({ ...flags, requestTimeout: TIMEOUT }, terminal);
  try {
    const { client } = cluster;
    if (request.want === 'namespaces') return await names(client, { group: '', version: 'v1', resource: 'namespaces' });
    const discovery = await discover(client);
    if (request.want === 'types') {
      const deletable = discovery.preferred.filter(({ verbs }) => verbs.includes('delete') && verbs.includes('list'));
      const end = request.slashed ? '/' : '';
      return deletable.map(({ resource, group }) => ({
        value: `${group === '' ? resource : `${resource}.${group}`}${end}`,
      }));
    }
    if (request.want !== 'names') return [];
    const [resource] = findResources(discovery, request.type);
    if (resource === undefined) return [];
    const found = await names(client, resource, resource.namespaced ? cluster.namespace : undefined);
    return found
      .map(({ value }) => ({ value: `${request.prefix}${value}` }))
      .filter(({ value }) => !request.taken.includes(value));
  } finally {
    await cluster.close();
  }
}

async function names(
  client: Awaited<ReturnType<typeof openCluster>>['client'],
  { group, version, resource }: { readonly group: string; readonly version: string; readonly resource: string },
  namespace?: string,
): Promise<Choice[]> {
  const { items } = await client.list(
    { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) },
    { accept: ACCEPT_METADATA_LIST_JSON, query: { limit: MOST_NAMES } },
  );
  return items.map(({ metadata }) => ({ value: metadata?.name ?? '' }));
}

async function recordChoices(recordDir: string | undefined): Promise<Choice[]> {
  const folder = recordFolder(recordDir, process.env);
  if (folder === undefined) return [];
  const store = new RecordStore({ folder, clock: systemClock, random: systemRandom, secrets: 'encrypted' });
  const { records } = await store.list();
  return records.map(({ id, roots }) => ({
    value: id,
    description: roots.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`).join(' '),
  }));
}
