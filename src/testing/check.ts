import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type KubeObject } from '../api/meta/object-meta.ts';
import { clusterOf, type TestCluster } from './cluster.ts';
import type { Trace } from './trace/trace.ts';
import { displayName, type ObjectRef, refOf, type Subject } from './client/object-ref.ts';

/** The result of a matcher: whether it passes, and the message for the unexpected case. */
export interface Finding {
  readonly pass: boolean;
  readonly message: string;
}

/** Maximum number of other names in a message. */
const NAMED_OTHERS = 5;
/** Maximum number of quoted trace lines. */
const QUOTED_LINES = 15;

/** Throws a TypeError for a value that is not a cluster; `call` shows the right call. For callers without types. */
export function checkCluster(cluster: unknown, call: string): void {
  if (typeof (cluster as Partial<TestCluster> | undefined | null)?.settled === 'function') return;
  throw new TypeError(
    `a cluster is needed, as in ${call}, not ${inspect(cluster, { depth: 0, breakLength: Number.POSITIVE_INFINITY })}`,
  );
}

/** The given cluster, or the one whose client returned the object. */
export function clusterFor(subject: Subject, named: TestCluster | undefined): TestCluster {
  if (named !== undefined) checkCluster(named, 'toBeCollected(cluster)');
  const cluster = named ?? clusterOf(subject);
  if (cluster) return cluster;
  throw new TypeError(
    `${displayName(refOf(subject))} did not come from cluster.client: name the cluster, as in toBeCollected(cluster)`,
  );
}

/**
 * True if the object is gone and nothing is left that could change that. A subject with a uid means exactly this object. For an object that
 * never existed it always throws an AssertionError, because a wrong name must not pass as a collection.
 */
export async function checkCollected(cluster: TestCluster, subject: Subject): Promise<Finding> {
  const { ref, object, waiting } = await look(cluster, subject);
  if (object === undefined) checkWasThere(cluster, ref);
  return {
    pass: object === undefined,
    message: report({
      expected: `${displayName(ref)} to be ${object ? '' : 'there, not '}collected`,
      found: object ? [stateOf(object), ...waitingFor(object), ...waiting] : ['it is gone'],
      trace: cluster.trace().about(ref),
    }),
  };
}

/** The trace has every deleted object, whoever deleted it, unless its beginning was dropped. */
function checkWasThere(
  cluster: TestCluster,
  ref: ObjectRef,
  assumed: Partial<ObjectRef> = { namespace: 'default' },
): void {
  const trace = cluster.trace();
  const seen = trace.about({ ...assumed, ...ref }).entries.some(({ kind }) => kind === 'write');
  // Existing objects of a snapshot have no entry.
  if (seen || trace.dropped > 0 || (ref.uid === undefined && cluster.knows(ref))) return;
  const written = trace.entries.filter(({ kind, object }) => kind === 'write' && object?.kind === ref.kind);
  const others = [...new Set(written.map(({ object }) => displayName(object ?? ref)))].slice(0, NAMED_OTHERS);
  const hint = others.length === 0 ? '' : `; of this kind there were: ${others.join(', ')}`;
  const what = ref.uid === undefined ? 'kind and name' : `kind, name and uid (${ref.uid})`;
  throw new AssertionError({
    message: `expected ${displayName(ref)} to have been there\nfound: no object of this ${what} was ever there${hint}`,
  });
}

/**
 * Throws, like {@link checkCollected}, for an object or an owner that never existed. An owner without a namespace may be in any. An owner
 * with a uid need not have existed, because a reference may name any uid.
 */
export async function checkOwnedBy(cluster: TestCluster, subject: Subject, owner: Subject): Promise<Finding> {
  const { ref, object } = await look(cluster, subject);
  if (object === undefined) checkWasThere(cluster, ref);
  const wanted = refOf(owner);
  const owners = object?.metadata?.ownerReferences ?? [];
  const pass = owners.some(({ apiVersion, kind, name, uid }) =>
    wanted.uid === undefined
      ? groupOf(apiVersion) === groupOf(wanted.apiVersion) && kind === wanted.kind && name === wanted.name
      : uid === wanted.uid,
  );
  if (!pass && wanted.uid === undefined) checkWasThere(cluster, wanted, {});
  const names = owners.map(({ kind, name, uid }) => `${kind}/${name} (uid ${uid})`);
  const found =
    object === undefined
      ? 'it does not exist'
      : names.length > 0
        ? `its owners: ${names.join(', ')}`
        : 'it has no owner';
  return {
    pass,
    message: report({
      expected: `${displayName(ref)} ${pass ? 'not ' : ''}to be owned by ${displayName(wanted)}${wanted.uid ? ` (uid ${wanted.uid})` : ''}`,
      found: [found],
      trace: cluster.trace().about(ref),
    }),
  };
}

/** Throws, like {@link checkCollected}, for an object that never existed, because it has no finalizer either. */
export async function checkFinalizer(cluster: TestCluster, subject: Subject, finalizer: string): Promise<Finding> {
  const { ref, object } = await look(cluster, subject);
  if (object === undefined) checkWasThere(cluster, ref);
  const pass = object?.metadata?.finalizers?.includes(finalizer) ?? false;
  return {
    pass,
    message: report({
      expected: `${displayName(ref)} ${pass ? 'not ' : ''}to have finalizer ${finalizer}`,
      found: [object ? stateOf(object) : 'it does not exist'],
      trace: cluster.trace().about(ref),
    }),
  };
}

/** A paused cluster is examined in its current state, because the test controls the steps. */
async function look(
  cluster: TestCluster,
  subject: Subject,
): Promise<{ ref: ObjectRef; object: KubeObject | undefined; waiting: readonly string[] }> {
  const { waiting } = cluster.paused ? { waiting: ['the cluster is paused'] } : await cluster.settled();
  return { ref: refOf(subject), object: await cluster.observer.find(subject), waiting: waiting.map(advise(cluster)) };
}

/** The time is rounded up, so that advancing by it suffices. */
function advise({ clock, paused }: TestCluster): (waiting: string) => string {
  const next = clock.nextTimerInMs;
  if (next !== undefined) {
    return (waiting) => `${waiting} (the next timer is due in ${Math.ceil(next)} ms: cluster.clock.advance)`;
  }
  const wait = clock.kind === 'real' && !paused ? ' (cluster.settled({ advanceMs }) waits for it)' : '';
  return (waiting) => `${waiting}${wait}`;
}

/** The reason why a deleted object stays, if something other than the collector must release it. */
function waitingFor({ metadata = {} }: KubeObject): string[] {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const [finalizer] = finalizers.filter((name) => name !== FINALIZER_FOREGROUND && name !== FINALIZER_ORPHAN);
  if (!deletionTimestamp || finalizer === undefined) return [];
  const advice =
    'if its operator is still at work, wait for that first: cluster.settled({ idle: () => operator.idle })';
  return [`nobody has removed ${finalizer}; ${advice}`];
}

function stateOf({ metadata = {} }: KubeObject): string {
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = metadata;
  return [
    deletionTimestamp ? `it is being deleted since ${deletionTimestamp}` : 'it exists and nobody has deleted it',
    finalizers.length > 0 ? `finalizers: ${finalizers.join(', ')}` : 'no finalizers',
    ownerReferences.length > 0
      ? `owners: ${ownerReferences.map(({ kind, name }) => `${kind}/${name}`).join(', ')}`
      : 'no owners',
  ].join('; ');
}

function report({ expected, found, trace }: { expected: string; found: readonly string[]; trace: Trace }): string {
  const lines = trace.entries.length > 0 ? trace.last(QUOTED_LINES).toString() : '  nothing since the test began';
  return `expected ${expected}\nfound: ${found.join('\n       ')}\nwhat happened to it:\n${lines}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
