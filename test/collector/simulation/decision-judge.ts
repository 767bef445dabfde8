import type { Identity } from '../../../src/collector/types/identity.ts';
import type { Decision } from '../../../src/collector/workers/decision.ts';
import { isNamespacedKind } from './simulated-kinds.ts';
import type { Judge } from './judge.ts';
import { isTerminating, type StoredObjects } from './stored-objects.ts';

/**
 * Returns the claims of a decision that contradict the real objects. It checks only facts that stay true: an object that is gone or
 * terminating stays so, however late the collector says it. A restored server is the exception: then a graph that does not know of the
 * restore yet may show an object as terminating for a while.
 */
export function wrongClaims(
  { uid, reason, actions }: Decision,
  { objects, wasTerminating }: Pick<Judge, 'objects' | 'wasTerminating'>,
): string[] {
  const wrong: string[] = [];
  for (const action of actions) {
    if (action.action !== 'noteAbsentOwner' && action.action !== 'emitVirtualDelete') continue;
    const { identity } = action;
    if (isThere(identity, objects))
      wrong.push(`${identity.kind} ${identity.namespace}/${identity.name} counts as absent`);
  }
  const object = objects.withUid(uid);
  if (reason === 'alreadyTerminating' && object !== undefined && !isTerminating(object) && !wasTerminating(uid)) {
    wrong.push(`${object.kind} ${object.namespace}/${object.name} counts as terminating`);
  }
  return wrong;
}

/** Under exactly these coordinates (COL-115, COL-116). */
function isThere({ apiVersion, kind, namespace, name, uid }: Identity, objects: StoredObjects): boolean {
  const object = objects.withUid(uid);
  if (object?.apiVersion !== apiVersion || object.kind !== kind || object.name !== name) return false;
  return !isNamespacedKind(kind) || object.namespace === namespace;
}
