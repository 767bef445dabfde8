import {
  FINALIZER_FOREGROUND,
  FINALIZER_ORPHAN,
  type KubeObject,
  type OwnerReference,
} from '../../api/meta/object-meta.ts';
import type { ServedKind } from './undo-facts.ts';
import { hasTrap, pastKindTraps, type TrapContext } from './kind-traps.ts';
import { formatRestoredFrom, RESTORED_FROM } from './restored-from.ts';

export interface RestoreContext extends TrapContext {
  readonly recordId: string;
  readonly served: ServedKind;
  readonly finalizerServed: (finalizer: string) => boolean;
  /** The current uid of the owner; undefined if it does not exist (yet). */
  readonly ownerUid: (reference: OwnerReference) => string | undefined;
}

export interface RestoredBody {
  readonly body: KubeObject;
  /** The status for `/status` after the object exists; absent if there is none. */
  readonly status?: unknown;
  readonly notes: readonly string[];
}

/** Finalizers that the server or a Kubernetes controller adds by itself. */
const ADDED_ANEW: ReadonlySet<string> = new Set([
  'kubernetes',
  'kubernetes.io/pvc-protection',
  'kubernetes.io/pv-protection',
  'kubernetes.io/vac-protection',
  'customresourcecleanup.apiextensions.k8s.io',
  'batch.kubernetes.io/job-tracking',
  'service.kubernetes.io/load-balancer-cleanup',
  'foregroundDeletion',
]);
/** Finalizers of the deletion that is undone. */
const OF_DELETION: ReadonlySet<string> = new Set<string>([FINALIZER_FOREGROUND, FINALIZER_ORPHAN]);

/** The notes of {@link restoreBody}, without the body. */
export function restoreNotes(recorded: KubeObject, context: () => RestoreContext): readonly string[] {
  const { finalizers = [] } = recorded.metadata ?? {};
  return finalizers.length === 0 && !hasTrap(recorded) ? [] : restoreBody(recorded, context()).notes;
}

/** The body for the create: without fields that the server sets, with the current owners (CAS-063). */
export function restoreBody(recorded: KubeObject, context: RestoreContext): RestoredBody {
  const notes: string[] = [];
  const note = (sentence: string): void => void notes.push(sentence);
  const { name, generateName, namespace, labels, annotations, finalizers = [], uid = '' } = recorded.metadata ?? {};
  const kept = keptFinalizers(finalizers, context.finalizerServed, note);
  const references = currentReferences(recorded, context.ownerUid);
  const { status, ...rest } = recorded;
  const viaStatus = context.served.statusSubresource || context.served.builtIn;
  const body: KubeObject = {
    ...(viaStatus ? rest : recorded),
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [RESTORED_FROM]: formatRestoredFrom(context.recordId, uid) },
      ...(kept.length === 0 ? {} : { finalizers: kept }),
      ...(references.length === 0 ? {} : { ownerReferences: references }),
    },
  };
  const sent = pastKindTraps(withStatus(body, recorded), context, note);
  const restoresStatus = context.served.statusSubresource && !context.served.builtIn && !isEmptyStatus(status);
  return { body: viaStatus ? withoutStatus(sent) : sent, ...(restoresStatus ? { status } : {}), notes };
}

/** Traps read the status (has the Job finished?), so it is removed only before the body is sent. */
function withStatus(body: KubeObject, { status }: KubeObject): KubeObject {
  return status === undefined ? body : { ...body, status };
}

function withoutStatus({ status: _status, ...body }: KubeObject): KubeObject {
  return body;
}

export const isEmptyStatus = (status: unknown): boolean =>
  status === undefined || status === null || (typeof status === 'object' && Object.keys(status).length === 0);

/** References to existing owners with their current uids, without duplicates. */
export function currentReferences(
  { metadata }: KubeObject,
  ownerUid: (reference: OwnerReference) => string | undefined,
): OwnerReference[] {
  const current = new Map<string, OwnerReference>();
  for (const reference of metadata?.ownerReferences ?? []) {
    const uid = ownerUid(reference);
    if (uid !== undefined && !current.has(uid)) current.set(uid, { ...reference, uid });
  }
  return [...current.values()];
}

function keptFinalizers(
  finalizers: readonly string[],
  served: (finalizer: string) => boolean,
  note: (sentence: string) => void,
): string[] {
  return finalizers.filter((finalizer) => {
    if (ADDED_ANEW.has(finalizer) || OF_DELETION.has(finalizer)) return false;
    if (served(finalizer)) return true;
    note(`finalizer ${finalizer} is left out: nothing was found that serves it`);
    return false;
  });
}
