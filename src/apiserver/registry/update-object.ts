import { append } from '../../base/collections/append.ts';
import { A_TURN, type Steps } from '../../base/time/steps.ts';
import { parseExactJson } from '../../base/json/exact-json.ts';
import { treeRefusal } from '../../api/codec/json/body-values.ts';
import { isRemovedByUpdate } from '../../api/deletion/after-update.ts';
import { storagePreconditionText } from '../../api/deletion/preconditions.ts';
import type { FieldError } from '../../api/field-error.ts';
import { fieldInvalid } from '../../api/field-error.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { quoted } from '../../api/meta/quoted.ts';
import { validateBuiltinUpdate } from '../../api/schema/validation/validate-builtin.ts';
import { validateBuiltinStatus } from '../../api/schema/validation/validate-status.ts';
import { builtinWarnings } from '../../api/schema/warnings/warnings.ts';
import {
  isAlreadyExists,
  newConflict,
  newInvalid,
  newNotFound,
  newServerTimeout,
  newUntypedInternal,
} from '../../api/status-error.ts';
import { objectMetaRules, validateObjectMetaUpdate } from '../../api/validation/object-meta.ts';
import { checkUidPrecondition } from '../../api/validation/uid-precondition.ts';
import type { AdmissionAttributes } from '../admission/chain/attributes.ts';
import type { KeyValue } from '../storage/interface.ts';
import { admissionAttributes, admitWrite } from './admission-attributes.ts';
import { boundMetadata, createObject, dedupe, fillNamespace } from './create-object.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { recordUpdate, setManagedFields, differInTimesOnly } from './field-tracking.ts';
import { changesElsewhere } from './manager-versions.ts';
import { metadataOf, restoreSystemMetadata, setUpdatedGeneration } from './object/object-meta.ts';
import { betweenSteps, runSteps, stepsOf } from './long-work.ts';
import { addedController, guardedByOwner } from './owner-guard.ts';
import type { ResourceStore } from './resource-store.ts';
import { type ServedObject, TransientObject } from './object/served-object.ts';
import { hasStatusSubresource, keepStatus, onlyStatus } from './object/status-split.ts';
import { outcomeOf, type StoreOutcome } from './store-outcome.ts';
import { type StrategyContext, strategyContext, type WriteContext } from './strategy.ts';

/**
 * Maximum number of attempts after a concurrent write was first. Updates that lost take turns, so only writes without turns (deletions,
 * other servers on the same store) can win repeatedly.
 */
const MAX_ATTEMPTS = 1000;

export interface UpdateRequest {
  readonly namespace: string;
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /**
   * The part of `next` that counts: all except status (the object itself), status (API-330), or all of it (subresources whose endpoint
   * derives `next` from the previous state and changes only its own part).
   */
  readonly part: 'object' | 'status' | 'whole';
  /**
   * For `put`, uid and resourceVersion in the object are preconditions. For `patch`, they are fields (API-174, API-191). `apply` is like
   * patch, but creates a missing object (API-210).
   */
  readonly method: 'put' | 'patch' | 'apply';
  /**
   * The wanted state in the served version, decoded and defaulted; a new copy at each call. It is called again with the newest state if a
   * concurrent write was first. If previous is undefined, the object does not exist, and PUT or apply creates it (API-173, API-210).
   */
  next(previous: KubeObject | undefined): KubeObject | Promise<KubeObject>;
  /** The object for admission, if it differs. */
  readonly view?: AdmittedView;
  readonly context: WriteContext;
}

/** The object that admission sees for an update of another kind, such as Scale. */
export interface AdmittedView {
  readonly kind: GroupVersionKind;
  of(object: KubeObject): KubeObject;
  /** A copy of the object with admission's changes to its view. */
  merge(object: KubeObject, view: KubeObject): KubeObject;
}

export interface UpdateResult {
  readonly object: ServedObject;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'removed';
}

/** PUT and PATCH of the object and of its subresources: read, decide, write with the version that was read as precondition. */
export async function updateObject(resource: ResourceStore, request: UpdateRequest): Promise<UpdateResult> {
  const { info, environment } = resource;
  const { store, updateTurns } = environment;
  const key = resource.key(request.namespace, request.name);
  let turn = updateTurns.isContended(key) ? await updateTurns.take(key) : undefined;
  try {
    let { kv } = await store.get(key);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (request.context.expired()) break;
      const step = kv === undefined ? await createInstead(resource, request) : await updateOnce(resource, request, kv);
      if (step.outcome !== 'raced') return step;
      if (turn === undefined) {
        turn = await updateTurns.take(key);
        ({ kv } = await store.get(key));
      } else {
        kv = step.current;
      }
    }
  } finally {
    turn?.();
  }
  throw newServerTimeout(info, request.method === 'put' ? 'update' : 'patch', 1);
}

type Step = UpdateResult | { readonly outcome: 'raced'; readonly current: KeyValue | undefined };

async function createInstead(resource: ResourceStore, request: UpdateRequest): Promise<Step> {
  const { info } = resource;
  const { namespace, name, context } = request;
  if (request.method === 'patch') throw newNotFound(info, name);
  const creates = request.subresource === '' && (request.method === 'apply' || info.allowCreateOnUpdate);
  if (request.method === 'apply' && !creates) throw newNotFound(info, name);
  const object = await request.next(undefined);
  if (!creates) throw newNotFound(info, name);
  // A uid means that the client expects an existing object. A resourceVersion alone does not prevent the create, as upstream.
  const { uid = '' } = object.metadata ?? {};
  if (uid !== '') throw newConflict(info, name, storagePreconditionText({ field: 'uid', wanted: uid, found: '' }));
  delete metadataOf(object).resourceVersion;
  const authorize = context.authorizeCreate;
  try {
    return { outcome: 'created', object: await createObject(resource, { namespace, object, context, authorize }) };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    // Another client created the object first, so this request updates it.
    const { kv } = await resource.environment.store.get(resource.key(namespace, name));
    return { outcome: 'raced', current: kv };
  }
}

async function updateOnce(resource: ResourceStore, request: UpdateRequest, kv: KeyValue): Promise<Step> {
  const served = await resource.read(kv);
  const previous = served.object();
  const bytes = kv.value.length + (request.context.bodyBytes ?? 0);
  const next = await decideNext(resource, { ...request, bytes }, previous);
  const attempt: Attempt = { kv, served, previous, next, outcome: 'not stored' };
  try {
    const pause = betweenSteps(resource.environment.clock, bytes);
    if (pause !== undefined) await pause;
    return await writeNext(resource, request, attempt);
  } finally {
    resource.strategy.updateEnded?.(next, previous, attempt.outcome);
  }
}

interface Attempt extends Change {
  readonly kv: KeyValue;
  /** `kv` in the served version. */
  readonly served: ServedObject;
  /** The current outcome of `next`. */
  outcome: StoreOutcome;
}

async function writeNext(resource: ResourceStore, request: UpdateRequest, attempt: Attempt): Promise<Step> {
  const { store } = resource.environment;
  const { kv, served, previous, next } = attempt;
  if (isRemovedByUpdate(previous, next)) {
    if (request.context.dryRun) return { outcome: 'removed', object: new TransientObject(next, served.revision) };
    const removal = await store.delete(kv.key, kv.modRevision);
    if (!removal.succeeded) return { outcome: 'raced', current: removal.current };
    resource.strategy.released?.(previous);
    metadataOf(next).resourceVersion = String(removal.revision);
    return { outcome: 'removed', object: new TransientObject(next, removal.revision) };
  }
  const bytes = await resource.encodeBounded(next);
  if (changesNothing(resource, { bytes, stored: kv.value, next, previous }))
    return { outcome: 'unchanged', object: served };
  const owner = addedController(resource.environment.ownerGuard, { next, previous, user: request.context.user });
  // If the owner changes meanwhile, the write is decided anew, as after any other race.
  const options = owner === undefined ? resource.lifetime : await guardedByOwner(resource, owner, request);
  if (request.context.dryRun) {
    metadataOf(next).resourceVersion = String(served.revision);
    return { outcome: 'updated', object: new TransientObject(next, served.revision) };
  }
  const result = await store.update(kv.key, bytes, kv.modRevision, options).catch((error: unknown) => {
    attempt.outcome = outcomeOf(error);
    throw error;
  });
  if (!result.succeeded) return { outcome: 'raced', current: result.current };
  attempt.outcome = 'stored';
  return { outcome: 'updated', object: await resource.read(result.kv) };
}

interface Deciding extends UpdateRequest {
  /** Size of the stored object and of the body. */
  readonly bytes: number;
}

/** The state to write, after all validation and admission. */
async function decideNext(resource: ResourceStore, request: Deciding, previous: KubeObject): Promise<KubeObject> {
  const { info, strategy, environment } = resource;
  const { subresource } = request;
  const context = strategyContext(request.context, { info, subresource, now: environment.clock.now() });
  let pause = betweenSteps(environment.clock, request.bytes);
  if (pause !== undefined) await pause;
  let next = await request.next(previous);
  pause = betweenSteps(environment.clock, request.bytes);
  if (pause !== undefined) {
    await pause;
    if (request.method !== 'put') boundGrowth(next, previous);
  }
  if (request.method === 'put') {
    const conflict = checkUidPrecondition(metadataOf(next), previous.metadata ?? {}, info);
    if (conflict !== undefined) throw conflict;
  }
  checkResourceVersion(resource, request.name, next, previous);
  fillNamespace(next, request.namespace, info.namespaced);
  restoreSystemMetadata(next, previous);
  dedupe(next, context);
  boundMetadata(next, previous);
  const { part } = request;
  const comparing =
    context.tracking?.by === 'update' ? changesElsewhere(resource, { previous, next }, request) : undefined;
  const elsewhere = comparing === undefined ? undefined : await comparing;
  const recording = recordUpdate(resource, { next, previous, part, elsewhere, context });
  const recorded = runSteps(environment.clock, request.bytes, recording);
  if (recorded !== undefined) await recorded;
  const { managedFields } = metadataOf(next);
  if (context.admission !== 'skipped') {
    next = await mutated(resource, request, { next, previous });
    dedupe(next, context);
    checkResourceVersion(resource, request.name, next, previous);
    fillNamespace(next, request.namespace, info.namespaced);
    // A webhook, like a client, cannot change creation or deletion, and its attempt is ignored.
    restoreSystemMetadata(next, previous);
  }

  if (request.part === 'status') {
    const custom = info.typeName === undefined;
    next = onlyStatus(next, previous, custom || strategy.statusKeepsMetadata === true);
    setManagedFields(next, managedFields);
    const generation = previous.metadata?.generation;
    if (generation === undefined) delete metadataOf(next).generation;
    else metadataOf(next).generation = generation;
  } else {
    if (request.part === 'object' && hasStatusSubresource(info)) keepStatus(next, previous);
    // Binding a pod does not change its spec's generation.
    if (request.subresource !== 'binding') setUpdatedGeneration(next, previous, info.generation);
  }
  pause = betweenSteps(environment.clock, request.bytes);
  if (pause !== undefined) await pause;
  const preparation = strategy.prepareForUpdate?.(next, previous, context);
  if (preparation !== undefined) await preparation;
  try {
    const validation = validationSteps(resource, { next, previous, context, name: request.name });
    const validated = runSteps(environment.clock, request.bytes, validation);
    if (validated !== undefined) await validated;
    if (context.admission !== 'skipped') {
      const pending = environment.admission.validate(attributesOf(resource, request, { next, previous }));
      if (pending !== undefined) await pending;
    }
  } catch (error) {
    strategy.updateEnded?.(next, previous, 'not stored');
    throw error;
  }
  return next;
}

/**
 * Patches together may not make what no body may have (API-007). An object that has more already, from an earlier version or a webhook, can
 * still be changed.
 */
function boundGrowth(next: KubeObject, previous: KubeObject): void {
  const refusal = treeRefusal(withoutManagers(next));
  if (refusal !== undefined && treeRefusal(withoutManagers(previous)) === undefined) throw refusal;
}

function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

interface Change {
  readonly next: KubeObject;
  readonly previous: KubeObject;
}

/** The next state after the mutating phase. */
async function mutated(resource: ResourceStore, request: UpdateRequest, change: Change): Promise<KubeObject> {
  const attributes = attributesOf(resource, request, change);
  await admitWrite(resource, attributes);
  const { view } = request;
  return view === undefined || attributes.object === undefined
    ? change.next
    : view.merge(change.next, attributes.object);
}

function attributesOf(resource: ResourceStore, request: UpdateRequest, change: Change): AdmissionAttributes {
  const { namespace, name, subresource, view, context } = request;
  const see = (object: KubeObject): KubeObject => view?.of(object) ?? object;
  return admissionAttributes(resource, {
    operation: 'UPDATE',
    kind: view?.kind,
    subresource,
    namespace,
    name,
    object: see(change.next),
    oldObject: () => see(change.previous),
    context,
  });
}

/** A patch without a version keeps the stored one, so it always passes (API-171, API-191). */
function checkResourceVersion(resource: ResourceStore, name: string, next: KubeObject, previous: KubeObject): void {
  const { info } = resource;
  const wanted = next.metadata?.resourceVersion ?? '';
  if (wanted === '' || wanted === '0') {
    if (info.allowUnconditionalUpdate) return;
    const error = fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw newInvalid({ group: info.group, kind: info.resource }, name, [error]);
  }
  if (!/^\d+$/.test(wanted)) {
    throw newUntypedInternal(`strconv.ParseUint: parsing ${quoted(wanted)}: invalid syntax`);
  }
  if (wanted !== previous.metadata?.resourceVersion) throw newConflict(info, name);
}

interface Judged {
  readonly next: KubeObject;
  readonly previous: KubeObject;
  readonly context: StrategyContext;
  readonly name: string;
}

function* validationSteps(resource: ResourceStore, { next, previous, context, name }: Judged): Steps<void> {
  const { info, strategy } = resource;
  const builtin = info.typeName !== undefined;
  const errors: FieldError[] = [
    ...validateObjectMetaUpdate(metadataOf(next), previous.metadata ?? {}, objectMetaRules(info)),
  ];
  yield A_TURN;
  if (builtin) append(errors, validateBuiltinUpdate(next, previous, info));
  if (builtin && context.subresource === 'status') append(errors, validateBuiltinStatus(next, previous, info));
  yield A_TURN;
  append(errors, yield* stepsOf(strategy.validateUpdate?.(next, previous, context) ?? []));
  if (errors.length > 0) throw newInvalid(info, name, errors);
  if (builtin && context.subresource === '') {
    for (const text of builtinWarnings(info, next, previous)) context.warn(text);
  }
}

interface Encoded extends Change {
  /** `next` in its stored form. */
  readonly bytes: Uint8Array;
  readonly stored: Uint8Array;
}

/** A write that changes nothing is skipped (API-077). A different key order has the same length, so trees are compared only then. */
function changesNothing(resource: ResourceStore, { bytes, stored, next, previous }: Encoded): boolean {
  if (bytes.length !== stored.length) return false;
  if (Buffer.compare(bytes, stored) === 0) return true;
  const { resourceVersion, managedFields } = previous.metadata ?? {};
  const metadata = { ...next.metadata, resourceVersion, managedFields };
  if (!deepEqual({ ...next, metadata }, previous)) return false;
  if (!differInTimesOnly(next.metadata?.managedFields, managedFields)) return false;
  return resource.servesStoredBytes || sameWhereStored(bytes, stored);
}

/** An equal object may be stored in another version, or by an earlier schema; then it is rewritten (API-473). */
function sameWhereStored(bytes: Uint8Array, stored: Uint8Array): boolean {
  const [left, right] = [bytes, stored].map((form) =>
    withoutManagers(parseExactJson(Buffer.from(form).toString()) as KubeObject),
  );
  return deepEqual(left, right);
}
