import { decideDelete } from '../../api/deletion/before-delete.ts';
import type { DeleteDecision } from '../../api/deletion/delete-decision.ts';
import { type DeleteOptions, isDryRun, unreadableRefused } from '../../api/deletion/delete-options.ts';
import { graceRuleOf } from '../../api/deletion/pod-grace.ts';
import { impliedPreconditions } from '../../api/deletion/preconditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newConflict, newNotFound, newServerTimeout } from '../../api/status-error.ts';
import type { KeyValue } from '../storage/interface.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { admissionAttributes, type AdmittedWrite } from './admission-attributes.ts';
import type { ResourceStore } from './resource-store.ts';
import type { ServedObject } from './object/served-object.ts';
import type { WriteContext } from './strategy.ts';

/** Maximum number of attempts, as in update-object: in each round one competitor succeeds. */
const MAX_ATTEMPTS = 1000;

export interface DeleteRequest {
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  /** The name that admission sees, if it differs from the object's: empty for a collection. */
  readonly admittedName?: string;
  readonly context: WriteContext;
}

type Decision = Exclude<DeleteDecision, { outcome: 'refuse' }>;

export interface DeleteResult {
  readonly decision: Decision;
  /**
   * The object for the answer, with the resourceVersion of the write or removal. If it is gone and its kind answers with a Status, only the
   * names are filled.
   */
  readonly object: KubeObject;
}

/**
 * DELETE of one object. The rules are in `api/deletion`; here they are carried out with the revision of the decision as precondition, and
 * decided again if a concurrent write was first, so that preconditions hold up to the removal (API-242). Some kinds imply a precondition:
 * {@link impliedPreconditions}.
 */
export async function deleteObject(resource: ResourceStore, request: DeleteRequest): Promise<DeleteResult> {
  const { info, environment } = resource;
  let meant = request;
  let { kv } = await environment.store.get(resource.key(request.namespace, request.name));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (attempt > 0 && request.context.expired()) break;
    if (kv === undefined) throw newNotFound(info, request.name);
    const step: Step = await deleteOnce(resource, meant, kv);
    if (step.outcome === 'done') return step.result;
    if (attempt === 0) {
      const found = resource.stored(kv).deletionMetadata();
      meant = { ...request, options: impliedPreconditions(request.options, info, found) };
    }
    kv = step.current;
  }
  throw newServerTimeout(info, 'delete', 1);
}

type Step =
  | { readonly outcome: 'done'; readonly result: DeleteResult }
  | { readonly outcome: 'raced'; readonly current: KeyValue | undefined };

async function deleteOnce(resource: ResourceStore, request: DeleteRequest, kv: KeyValue): Promise<Step> {
  const { strategy, environment } = resource;
  const { store, admission } = environment;
  const { options, namespace, name, context } = request;
  const stored = resource.convertsRemotely ? await resource.read(kv) : resource.stored(kv);
  const decision = decide(resource, stored, options);
  const dryRun = isDryRun(options);
  // As upstream, this comes before admission: a pod that is already shutting down passed admission at its first DELETE.
  if (decision.reason === 'gracePeriodNotShorter') return done(decision, decision.object);
  if (context.admission !== 'skipped') {
    const write: AdmittedWrite = {
      operation: 'DELETE',
      subresource: '',
      namespace,
      name: request.admittedName ?? name,
      oldObject: () => stored.object(),
      deleteOptions: options,
      dryRun,
      context,
    };
    const pending = admission.admitAndValidate(admissionAttributes(resource, write));
    if (pending !== undefined) await pending;
  }
  if (dryRun || decision.outcome === 'unchanged') return done(decision, decision.object);
  if (decision.outcome === 'update') {
    const written = await store.update(
      kv.key,
      await resource.encode(decision.object),
      kv.modRevision,
      resource.lifetime,
    );
    if (!written.succeeded) return { outcome: 'raced', current: written.current };
    return done(decision, (await resource.read(written.kv)).object());
  }
  const removal = await store.delete(kv.key, kv.modRevision);
  if (!removal.succeeded) return { outcome: 'raced', current: removal.current };
  strategy.released?.(stored.object());
  return done(decision, withVersion(decision.object, removal.revision));
}

/** Most deleted objects are hardly read, so only parts are parsed. */
function decide(
  { info, strategy, environment }: ResourceStore,
  stored: ServedObject,
  options: DeleteOptions,
): Decision {
  const grace = graceRuleOf(info);
  const now = environment.clock.now();
  const { decideDelete: ownRule } = strategy;
  let decision: DeleteDecision | undefined;
  if (grace === undefined && ownRule === undefined && !info.deleteReturnsObject) {
    decision = decideDelete({ object: { metadata: stored.deletionMetadata() }, options, resource: info, now });
  }
  // An object that stays is written or returned as a whole.
  if (decision?.outcome !== 'remove' && decision?.outcome !== 'refuse') {
    const whole = { object: stored.object(), options, resource: info, now };
    decision = (ownRule ?? decideDelete)(grace === undefined ? whole : { ...whole, grace });
  }
  if (decision.outcome === 'refuse') throw decision.error;
  return decision;
}

function done(decision: Decision, object: KubeObject): Step {
  return { outcome: 'done', result: { decision, object } };
}

function withVersion(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/**
 * Removes an object whose stored bytes are no object, without admission and whatever finalizers it may have (API-607). Throws a 422 if the
 * object can be read.
 */
export async function deleteUnreadable(
  resource: ResourceStore,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const { store } = resource.environment;
  const { kv } = await store.get(resource.key(namespace, name));
  if (kv === undefined) throw newNotFound(resource.info, name);
  if (isReadable(kv)) throw unreadableRefused('readable');
  const removal = await store.delete(kv.key, kv.modRevision);
  if (!removal.succeeded) throw newConflict(resource.info, name, 'the object was changed by another request');
}

function isReadable(kv: KeyValue): boolean {
  try {
    const { metadata } = new StoredObject(kv).object();
    return metadata?.name !== undefined;
  } catch {
    return false;
  }
}
