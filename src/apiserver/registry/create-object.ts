import { A_TURN, type Steps } from '../../base/time/steps.ts';
import { append } from '../../base/collections/append.ts';
import { boundElements } from '../../api/apply/list-element.ts';
import type { FieldError } from '../../api/field-error.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { validateBuiltin } from '../../api/schema/validation/validate-builtin.ts';
import { builtinWarnings } from '../../api/schema/warnings/warnings.ts';
import {
  newAlreadyExists,
  newBadRequest,
  newGenerateNameConflict,
  newInvalid,
  newServerTimeout,
  newUntypedInternal,
} from '../../api/status-error.ts';
import { dedupOwnerReferences, objectMetaRules, validateObjectMeta } from '../../api/validation/object-meta.ts';
import type { AdmissionAttributes } from '../admission/chain/attributes.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { StoredObject } from '../storage/stored-object.ts';
import { admissionAttributes, admitWrite } from './admission-attributes.ts';
import { recordCreate } from './field-tracking.ts';
import { generateName, NAME_GENERATION_ATTEMPTS } from './object/name-generator.ts';
import { metadataOf, setInitialGeneration, stampCreated, wipeSystemMetadata } from './object/object-meta.ts';
import { betweenSteps, runSteps, stepsOf } from './long-work.ts';
import { addedController, guardedByOwner } from './owner-guard.ts';
import type { ResourceStore } from './resource-store.ts';
import { type ServedObject, TransientObject } from './object/served-object.ts';
import { splitStatusForCreate } from './object/status-split.ts';
import { outcomeOf, type StoreOutcome } from './store-outcome.ts';
import { type StrategyContext, strategyContext, type WriteContext } from './strategy.ts';

export interface CreateRequest {
  /** The namespace of the path; empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Decoded and defaulted. It belongs to the caller and is changed here. */
  readonly object: KubeObject;
  readonly context: WriteContext;
  /**
   * Throws if the user may not create. Set by PUT and apply, which were authorized as updates; kube-apiserver checks after validation of
   * the object and before validating admission.
   */
  readonly authorize?: (() => void) | undefined;
}

/** The steps of API-151, from de-duplication on. */
export async function createObject(resource: ResourceStore, request: CreateRequest): Promise<ServedObject> {
  const { info, strategy, environment } = resource;
  const { object, namespace } = request;
  const context = strategyContext(request.context, { info, subresource: '', now: environment.clock.now() });

  fillNamespace(object, namespace, info.namespaced);
  dedupe(object, context);
  boundMetadata(object);
  wipeSystemMetadata(object);
  const pause = pauseIfLong(resource, context);
  if (pause !== undefined) await pause;
  const recording = runSteps(environment.clock, context.bodyBytes, recordCreate(resource, object, context));
  if (recording !== undefined) await recording;
  if (context.admission !== 'skipped') {
    await admitWrite(resource, attributesOf(resource, request));
    dedupe(object, context);
    // A webhook's result must meet the same conditions: the authorized namespace, and no deletion.
    fillNamespace(object, namespace, info.namespaced);
    wipeSystemMetadata(object);
  }

  if (strategy.statusOnCreate !== 'kept') splitStatusForCreate(object, info);
  setInitialGeneration(object, info.generation);
  stampCreated(object, environment.random.uuid(), context.now);
  return persist(resource, request, context);
}

/** A create with many fields yields the event loop before each step. */
function pauseIfLong({ environment }: ResourceStore, { bodyBytes = 0 }: StrategyContext): Promise<void> | undefined {
  return betweenSteps(environment.clock, bodyBytes);
}

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Refuses an object that names a version, and removes a malformed version (API-060). In kube-apiserver storage does this, so all other
 * checks come first, a dry run skips it, and malformed text is ignored.
 */
function requireNoVersion(object: KubeObject): void {
  const meta = metadataOf(object);
  const { resourceVersion = '' } = meta;
  if (/^\d+$/.test(resourceVersion)) {
    const version = BigInt(resourceVersion);
    if (version > 0n && version <= MAX_UINT64) {
      throw newUntypedInternal('resourceVersion should not be set on objects to be created');
    }
  }
  delete meta.resourceVersion;
}

/** Names, validates and writes the object. A generated name that is taken is replaced by another one (API-061). */
async function persist(
  resource: ResourceStore,
  request: CreateRequest,
  context: StrategyContext,
): Promise<ServedObject> {
  const { object, namespace } = request;
  const { info, strategy, environment } = resource;
  const meta = metadataOf(object);
  const generated = (meta.name ?? '') === '' && (meta.generateName ?? '') !== '';
  for (let attempt = 1; ; attempt++) {
    if (generated) meta.name = generateName(meta.generateName ?? '', environment.random);
    const name = meta.name ?? '';
    const preparation = strategy.prepareForCreate?.(object, context);
    if (preparation !== undefined) await preparation;
    const prepared: Prepared = { object, namespace, name, context, outcome: 'not stored' };
    let existing: KeyValue;
    try {
      const pause = pauseIfLong(resource, context);
      if (pause !== undefined) await pause;
      const validation = runSteps(environment.clock, context.bodyBytes, validationSteps(resource, object, context));
      if (validation !== undefined) await validation;
      request.authorize?.();
      if (context.admission !== 'skipped') {
        const pending = environment.admission.validate(attributesOf(resource, request));
        if (pending !== undefined) await pending;
      }
      const answer = await write(resource, prepared);
      if ('created' in answer) return answer.created;
      ({ existing } = answer);
    } finally {
      if (prepared.outcome !== 'stored') strategy.createEnded?.(object, prepared.outcome);
    }
    if (!generated) throw newAlreadyExists(info, name, { terminating: isTerminating(existing) });
    if (attempt >= NAME_GENERATION_ATTEMPTS) throw newGenerateNameConflict(info, name);
  }
}

type Written = { readonly created: ServedObject } | { readonly existing: KeyValue };

/** Maximum number of attempts, because other clients may write to the object before it is deleted. */
const TAKE_BACK_ATTEMPTS = 100;

/**
 * Deletes the object that was just created and never acknowledged, in any state, but never a later one. Returns the object if this call
 * deleted it.
 */
async function takeBack(store: Store, { key, createRevision, modRevision }: KeyValue): Promise<KeyValue | undefined> {
  let revision = modRevision;
  for (let attempt = 0; attempt < TAKE_BACK_ATTEMPTS; attempt++) {
    const removal = await store.delete(key, revision);
    if (removal.succeeded) return removal.kv;
    if (removal.current?.createRevision !== createRevision) return undefined;
    revision = removal.current.modRevision;
  }
  return undefined;
}

interface Prepared extends CreateRequest {
  readonly name: string;
  readonly context: StrategyContext;
  /** The outcome of the write so far. */
  outcome: StoreOutcome;
}

async function write(resource: ResourceStore, prepared: Prepared): Promise<Written> {
  const { strategy, environment } = resource;
  const { store, admission } = environment;
  const { object, namespace, name, context } = prepared;
  const key = resource.key(namespace, name);
  const owner = addedController(environment.ownerGuard, { next: object, user: context.user });
  if (context.dryRun) {
    if (owner !== undefined) await guardedByOwner(resource, owner, prepared);
    const { kv } = await store.get(key);
    return kv === undefined ? { created: new TransientObject(object) } : { existing: kv };
  }
  requireNoVersion(object);
  let pause = pauseIfLong(resource, context);
  if (pause !== undefined) await pause;
  const bytes = await resource.encodeBounded(object);
  pause = pauseIfLong(resource, context);
  if (pause !== undefined) await pause;
  const result = await storeNew(resource, prepared, { key, bytes, owner });
  if (result.succeeded) {
    prepared.outcome = 'stored';
    strategy.createEnded?.(object, 'stored');
    try {
      strategy.stored?.(object, context);
      if (context.admission !== 'skipped' && namespace !== '') {
        await admission.stored({ info: resource.info, namespace, name });
      }
    } catch (error) {
      const removed = await takeBack(store, result.kv);
      // Releases only the addresses that it held when it was deleted, because another service may have its earlier ones.
      if (removed !== undefined) strategy.released?.((await resource.read(removed)).object());
      throw error;
    }
    pause = pauseIfLong(resource, context);
    if (pause !== undefined) await pause;
    return { created: await resource.read(result.kv) };
  }
  // Without a controller to add, a create fails only if an object exists; otherwise the owner changed at each attempt.
  if (result.current === undefined) throw newServerTimeout(resource.info, 'create', 1);
  return { existing: result.current };
}

/** Maximum number of reads of an owner that changes between the read and the create. */
const OWNER_ATTEMPTS = 100;

interface NewObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** The controller that must be there, and not be orphaned (LIFE-566). */
  readonly owner: OwnerReference | undefined;
}

async function storeNew(resource: ResourceStore, prepared: Prepared, { key, bytes, owner }: NewObject) {
  const { store } = resource.environment;
  for (let attempt = 1; ; attempt++) {
    const options = owner === undefined ? resource.lifetime : await guardedByOwner(resource, owner, prepared);
    const result = await store.create(key, bytes, options).catch((error: unknown) => {
      prepared.outcome = outcomeOf(error);
      throw error;
    });
    const ownerChanged = !result.succeeded && result.current === undefined;
    if (!ownerChanged || attempt >= OWNER_ATTEMPTS || prepared.context.expired()) return result;
  }
}

function attributesOf(resource: ResourceStore, { object, namespace, context }: CreateRequest): AdmissionAttributes {
  const name = object.metadata?.name ?? '';
  return admissionAttributes(resource, { operation: 'CREATE', subresource: '', namespace, name, object, context });
}

/**
 * Checks the namespace (API-064; apiserver `rest.EnsureObjectNamespaceMatchesRequestNamespace`). A cluster-scoped object loses its
 * namespace.
 */
export function fillNamespace(object: KubeObject, namespace: string, namespaced: boolean): void {
  const meta = metadataOf(object);
  if (!namespaced) {
    delete meta.namespace;
    return;
  }
  const given = meta.namespace ?? '';
  if (given !== '' && given !== namespace) {
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  meta.namespace = namespace;
}

/** Removes repeated owner references, with a warning (API-070). */
export function dedupe(object: KubeObject, context: Pick<WriteContext, 'warn'>): void {
  const references = object.metadata?.ownerReferences;
  if (references === undefined || references.length < 2) return;
  const { warning } = dedupOwnerReferences(metadataOf(object));
  if (warning !== undefined) context.warn(warning);
}

/** The bound of finalizers and owner references, also for an object without managers. */
export function boundMetadata(next: KubeObject, previous?: KubeObject): void {
  boundElements(next.metadata?.finalizers ?? [], previous?.metadata?.finalizers ?? []);
  boundElements(next.metadata?.ownerReferences ?? [], previous?.metadata?.ownerReferences ?? []);
}

/** Throws for an invalid object. */
function* validationSteps(resource: ResourceStore, object: KubeObject, { warn }: StrategyContext): Steps<void> {
  const { info, strategy } = resource;
  const meta = metadataOf(object);
  const errors: FieldError[] = validateObjectMeta(meta, objectMetaRules(info));
  yield A_TURN;
  if (info.typeName !== undefined) append(errors, validateBuiltin(object, info));
  yield A_TURN;
  if (strategy.validate !== undefined) append(errors, yield* stepsOf(strategy.validate(object)));
  if (errors.length > 0) throw newInvalid(info, meta.name ?? '', errors);
  if (info.typeName !== undefined) for (const text of builtinWarnings(info, object)) warn(text);
}

function isTerminating(kv: KeyValue): boolean {
  return Boolean(new StoredObject(kv).object().metadata?.deletionTimestamp);
}
