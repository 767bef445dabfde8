import { systemClock } from '../../base/time/clock.ts';
import { grouped } from '../../base/collections/grouped.ts';
import type { CascadePlan, CascadePolicy } from '../../cascade/documents/cascade-plan.ts';
import { OrderCircleError } from '../../cascade/preview/order-plan.ts';
import { previewCascade } from '../../cascade/preview/preview.ts';
import { DELETE_AFTER } from '../../cascade/preview/precedence.ts';
import { unreadWarning } from '../../cascade/report/unread-warning.ts';
import type { SimulationRequest } from '../../cascade/simulate/simulation.ts';
import { findObjects } from '../../cascade/snapshot/find-objects.ts';
import { readSnapshot } from '../../cascade/snapshot/read-snapshot.ts';
import { ResourceCatalogue, resourceName } from '../../cascade/snapshot/resource-catalogue.ts';
import type { Snapshot } from '../../cascade/snapshot/snapshot.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { CommandError } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import type { ClusterAccess } from '../command/cluster-access.ts';
import { type ObjectFlags, type ObjectRequest, objectRequests } from './object-arguments.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import { counted } from '../command/text-table.ts';
import type { PlanFlags } from './plan-options.ts';

export interface PlanRequestFlags extends PlanFlags, ObjectFlags {
  readonly allNamespaces?: boolean;
}

export interface RequestedPlan {
  readonly snapshot: Snapshot;
  readonly request: SimulationRequest;
  readonly plan: CascadePlan;
}

/**
 * Reads the cluster and makes the requested plan; undefined if there is no such object and the flags allow that. Throws a {@link
 * CommandError}.
 */
export async function requestedPlan(
  cluster: ClusterAccess,
  args: readonly string[],
  { flags, terminal }: { readonly flags: PlanRequestFlags; readonly terminal: Terminal },
): Promise<RequestedPlan | undefined> {
  const { client, namespace } = cluster;
  const policy = policyOf(flags.cascade);
  const gracePeriodSeconds = graceOf(flags);
  const catalogue = new ResourceCatalogue(await discover(client));
  const requests = await objectRequests(args, flags, {
    discovery: catalogue.discovery,
    namespace,
    allNamespaces: flags.allNamespaces === true,
  });
  const namespaces = [...new Set(requests.flatMap((each) => each.namespace ?? []))];
  const snapshot = await readSnapshot({ client, clock: systemClock, catalogue, namespaces });
  const uids = await requestedUids(cluster, snapshot, requests, isOn(flags.ignoreNotFound));
  if (uids.length === 0) return undefined;
  const request: SimulationRequest = {
    roots: uids.map((uid) => ({ uid, ...(policy === undefined ? {} : { policy }) })),
    assumeFinalizers: flags.assumeFinalizers,
    ...(flags.pvcProtectionIgnoreFinishedPods === true ? { ignoreFinishedPods: true } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
  const plan = await inOrder(previewCascade(client, snapshot, request));
  warnIncomplete(plan, terminal);
  return { snapshot, request, plan };
}

/** The plan that is being made. Rejects with a {@link CommandError} when the order of its roots goes in a circle. */
export async function inOrder<T extends CascadePlan | undefined>(planning: Promise<T>): Promise<T> {
  try {
    return await planning;
  } catch (error) {
    if (!(error instanceof OrderCircleError)) throw error;
    throw new CommandError(
      error.message,
      `Change the annotation ${DELETE_AFTER} of one of them, or delete them apart.`,
    );
  }
}

/** Reports that there is no object left because of `--ignore-not-found`. */
export function nothingThere(terminal: Terminal): number {
  terminal.stderr('No resources found; nothing would be deleted.\n');
  return EXIT_DONE;
}

/** Maximum number of kinds in one warning. */
const MOST_NAMED = 5;

/** Warns once for each reason, with the kinds that could not be read (CAS-002). */
export function warnIncomplete({ incomplete = [] }: Pick<CascadePlan, 'incomplete'>, terminal: Terminal): void {
  for (const [reason, resources] of grouped(incomplete, (each) => each.reason)) {
    const named = resources.slice(0, MOST_NAMED).map(({ resource }) => resource);
    const more = resources.length - named.length;
    const names = `${named.join(', ')}${more > 0 ? ` and ${counted(more, 'more kind')}` : ''}`;
    terminal.stderr(unreadWarning(names, reason));
  }
}

async function requestedUids(
  { client }: ClusterAccess,
  snapshot: Snapshot,
  requests: readonly ObjectRequest[],
  ignoresMissing: boolean,
): Promise<string[]> {
  const found = await findObjects(client, snapshot, requests);
  const missing = requests.filter(({ name }, i) => name !== undefined && found[i]!.length === 0);
  const [first] = ignoresMissing ? [] : missing;
  if (first !== undefined) throw missingObject(snapshot, first, missing.length);
  const uids = [...new Set(found.flat())];
  if (uids.length > 0 || ignoresMissing) return uids;
  throw new CommandError('no resources found', 'Nothing is there that would be deleted.');
}

/** The message about an object that the snapshot lacks. */
export function missingObject(
  snapshot: Snapshot,
  { resource, name = '', namespace }: ObjectRequest,
  count: number,
): CommandError {
  const type = resourceName(resource);
  const unread = snapshot.incomplete.find((each) => each.resource === type);
  if (unread !== undefined && snapshot.isIncomplete(resource)) {
    return new CommandError(
      `cannot predict what deleting ${type} "${name}" does: ${unread.reason}`,
      `Ask for the right to list ${type}, or preview what you may read.`,
    );
  }
  if (!snapshot.catalogue.deletable.includes(resource)) {
    return new CommandError(`${type} cannot be listed and deleted`, 'There is no cascade of what cannot be deleted.');
  }
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const more = count > 1 ? `, and ${count - 1} more are missing` : '';
  return new CommandError(
    `from server (NotFound): ${type} "${name}" not found${more}`,
    `There is none${where}. Is it in another namespace (-n) or context (--context)?`,
  );
}

/** True for a kubectl flag in the form `--flag` or `--flag=true`. */
export function isOn(value: string | boolean | undefined): boolean {
  return value === true || value === 'true';
}

function policyOf(value: string | true | undefined): CascadePolicy | undefined {
  switch (value) {
    case undefined:
      return undefined;
    case true:
    case 'true':
    case 'background':
      return 'Background';
    case 'foreground':
      return 'Foreground';
    case 'false':
    case 'orphan':
      return 'Orphan';
    default:
      throw new CommandError(
        `invalid cascade value (${value}). Must be "background", "foreground", or "orphan"`,
        'Leave --cascade away for the default of the type.',
      );
  }
}

/** `--grace-period` or `--now`; undefined for each object's own period. Throws a {@link CommandError}. */
export function graceOf({ gracePeriod: text, now = false }: PlanFlags): number | undefined {
  if (now && text !== undefined) {
    throw new CommandError('--now and --grace-period cannot be specified together', 'Leave one of the two away.');
  }
  if (now) return 1;
  if (text === undefined) return undefined;
  const seconds = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  // In kubectl, -1 means the object's own period.
  if (seconds === -1) return undefined;
  if (seconds >= 0 && seconds <= 2 ** 31) return seconds;
  throw new CommandError(`invalid --grace-period "${text}"`, 'Give a whole number of seconds, 0 or more.');
}
