import { inspect, isDeepStrictEqual } from 'node:util';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { ApiObject } from '../../api/meta/api-object.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isConflict, isNotFound, newNotFound } from '../../api/status-error.ts';
import type { DeleteOptions } from '../../client/rest/delete-options.ts';
import { pathOf, type QueryValue, type ResourceRef } from '../../client/rest/resource-path.ts';
import type { PatchType, RestClient } from '../../client/rest/rest-client.ts';
import { checkKeys } from './check-options.ts';
import type { FormerKinds } from './former-kinds.ts';
import { collectionOf, findResource, type ObjectRef, refOf, type Subject, UnknownKindError } from './object-ref.ts';
import { type WatchEvent, watchEvents } from './object-watch.ts';
import {
  type ApplyOptions,
  type FieldValidation,
  type PatchOptions,
  type UpdateOptions,
  type WriteOptions,
  writeQuery,
} from './write-options.ts';

/** Selects objects of a kind. */
export interface KindQuery {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  readonly apiVersion: string;
  /** The kind, in the singular: `Deployment`. */
  readonly kind: string;
  /** If absent, all namespaces. */
  readonly namespace?: string | undefined;
  /** A selector like kubectl's `--selector`: `app=web,tier!=cache`. */
  readonly labelSelector?: string | undefined;
  /** A selector like kubectl's `--field-selector`: `metadata.name=web`. */
  readonly fieldSelector?: string | undefined;
}

/** How a watch begins and ends. */
export interface WatchOptions {
  /** The version after which the watch begins; if absent, it begins with an `ADDED` for each existing object. */
  readonly resourceVersion?: string | undefined;
  /** Ends the watch; the loop over it then rejects with a TransportError. */
  readonly signal?: AbortSignal | undefined;
  /** Also reports `BOOKMARK` events. */
  readonly allowWatchBookmarks?: boolean | undefined;
}

/** The server's answer to a sent object: the same type, with the fields of every object. A class or interface of the caller is kept. */
export type Answered<T> = T extends KubeObject ? T & KubeObject : T;

/** The outcome of {@link ClusterClient.createOrUpdate}. */
export interface CreatedOrUpdated<T> {
  /** `unchanged` means that nothing was written. */
  readonly operation: 'created' | 'updated' | 'unchanged';
  /** The server's current object. */
  readonly object: T;
}

const PATCH_TYPES: readonly PatchType[] = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const APPLY = 'application/apply-patch+yaml';

/** The fields of {@link KindQuery}. */
export const kindQueryKeys: readonly (keyof KindQuery)[] = [
  'apiVersion',
  'kind',
  'namespace',
  'labelSelector',
  'fieldSelector',
];

export interface ClusterClientOptions {
  /** The name in the trace and for faults, and the manager of applied fields. */
  readonly name: string;
  readonly rest: RestClient;
  readonly served: () => readonly ResourceInfo[];
  readonly formerKinds: FormerKinds;
  /** The default of writes; the server decides if absent. */
  readonly fieldValidation?: FieldValidation | undefined;
  /** Called with every object in an answer of the server. */
  readonly seen: (object: object) => void;
}

/** Maximum number of retries after conflicts. */
const MAX_CONFLICTS = 10;

/**
 * Sends requests by apiVersion and kind. Every call rejects with a StatusError for an answer of 400 and above, and with an {@link
 * UnknownKindError} for an unserved kind. Objects may have types of the caller, such as the classes of `@kubernetes/client-node`; they are
 * still JSON, so a time is a string, whatever its type.
 */
export class ClusterClient {
  /** The client for all other requests: any path, any body, raw bytes. */
  readonly rest: RestClient;
  readonly #name: string;
  readonly #served: () => readonly ResourceInfo[];
  readonly #formerKinds: FormerKinds;
  readonly #fieldValidation: FieldValidation | undefined;
  readonly #seen: (object: object) => void;

  constructor({ name, rest, served, formerKinds, fieldValidation, seen }: ClusterClientOptions) {
    this.rest = rest;
    this.#name = name;
    this.#served = served;
    this.#formerKinds = formerKinds;
    this.#fieldValidation = fieldValidation;
    this.#seen = seen;
  }

  /** Resolves with the server's object: with uid, resourceVersion and defaults. Rejects with 409 if it exists. */
  async create<T extends ApiObject>(object: T, options: WriteOptions = {}): Promise<Answered<T>> {
    const { apiVersion = '', kind = '', metadata } = object;
    const query = this.#query('create', options);
    const collection = collectionOf(findResource(this.#served(), apiVersion, kind), metadata?.namespace);
    return this.#note(await this.rest.create<Answered<T>>(collection, object, { query }));
  }

  /** Rejects with a 404 StatusError if it does not exist; see {@link find}. */
  async get<T extends ApiObject = KubeObject>(subject: Subject): Promise<T> {
    return this.#note(await this.rest.get<T>(this.#path(subject)));
  }

  /**
   * Undefined if it does not exist, if another object has the name of a subject with a uid, or if its kind was removed with its definition.
   */
  async find<T extends ApiObject = KubeObject>(subject: Subject): Promise<T | undefined> {
    try {
      return await this.#getExactly<T>(subject);
    } catch (error) {
      if (this.#saysGone(error, subject)) return undefined;
      throw error;
    }
  }

  /** The matching objects, in all namespaces unless the query names one. */
  async list<T extends ApiObject = KubeObject>(query: KindQuery): Promise<T[]> {
    checkKeys('list', query, kindQueryKeys);
    const { apiVersion, kind, labelSelector, fieldSelector } = query;
    const { items } = await this.rest.list<T>(this.#selected(query), { query: { labelSelector, fieldSelector } });
    // Items of a list lack their type, which the list has.
    return items.map((item) => this.#note({ ...item, apiVersion, kind }));
  }

  /**
   * Watches the matching objects: `for await (const { type, object } of client.watch(query))`. The loop ends when the server ends the
   * watch, for example when the cluster stops. If the server ends it with an error, the loop throws the StatusError.
   */
  async *watch<T extends ApiObject = KubeObject>(
    query: KindQuery,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    checkKeys('watch', query, kindQueryKeys);
    checkKeys('watch', options, ['resourceVersion', 'signal', 'allowWatchBookmarks']);
    const { labelSelector, fieldSelector } = query;
    const { signal, resourceVersion, allowWatchBookmarks } = options;
    const parameters = { watch: true, labelSelector, fieldSelector, resourceVersion, allowWatchBookmarks };
    const path = pathOf(this.#selected(query));
    for await (const event of watchEvents<T>(
      await this.rest.stream({ method: 'GET', path, query: parameters, signal, timeoutMs: 'none' }),
    )) {
      this.#note(event.object);
      yield event;
    }
  }

  /** Replaces the whole object (PUT) at its resourceVersion. Rejects with 409 if that is outdated. */
  async update<T extends ApiObject>(object: T, options: UpdateOptions = {}): Promise<Answered<T>> {
    const query = this.#query('update', options);
    return this.#note(await this.rest.update<Answered<T>>(this.#path(object, options.subresource), object, { query }));
  }

  /** Replaces the status alone; the rest of the object is ignored. */
  async updateStatus<T extends ApiObject>(object: T, options: WriteOptions = {}): Promise<Answered<T>> {
    const query = this.#query('updateStatus', options);
    return this.#note(await this.rest.update<Answered<T>>(this.#path(object, 'status'), object, { query }));
  }

  /** A merge patch unless another type is given. An apply creates a missing object. */
  async patch<T extends ApiObject = KubeObject>(
    subject: Subject,
    body: unknown,
    type: PatchType = 'application/merge-patch+json',
    options: PatchOptions = {},
  ): Promise<T> {
    const query = this.#query('patch', options, type);
    return this.#patch<T>(this.#path(subject, options.subresource), { type, body }, query);
  }

  /** Patches the status alone: `patchStatus(shop, { status: { phase: 'Ready' } })`. */
  async patchStatus<T extends ApiObject = KubeObject>(
    subject: Subject,
    body: unknown,
    type: PatchType = 'application/merge-patch+json',
    options: Omit<PatchOptions, 'subresource'> = {},
  ): Promise<T> {
    const query = this.#query('patchStatus', options, type);
    return this.#patch<T>(this.#path(subject, 'status'), { type, body }, query);
  }

  /**
   * Server-side apply: this client becomes the manager (`fieldManager`, default: its name) of the object's fields. Creates a missing
   * object. Rejects with 409 if others manage the fields, unless `force` is set.
   */
  async apply<T extends ApiObject>(object: T, options: ApplyOptions = {}): Promise<Answered<T>> {
    const query = this.#query('apply', options, APPLY);
    return this.#patch<Answered<T>>(this.#path(object, options.subresource), { type: APPLY, body: object }, query);
  }

  /**
   * Applies `change` to the existing object and updates it, or to `initial` and creates it if there is none. Writes nothing if `change`
   * changes nothing. Retries after a conflict, at most ten times, so `change` may be called repeatedly.
   */
  async createOrUpdate<T extends ApiObject>(
    initial: T,
    change: (object: T) => void,
    options: WriteOptions = {},
  ): Promise<CreatedOrUpdated<Answered<T>>> {
    this.#query('createOrUpdate', options);
    for (let conflicts = 0; ; conflicts++) {
      const found = await this.find<T>(refOf(initial));
      const object = structuredClone(found ?? initial);
      change(object);
      if (found !== undefined && isDeepStrictEqual(found, object)) {
        return { operation: 'unchanged', object: this.#note(found) as Answered<T> };
      }
      try {
        if (found === undefined) return { operation: 'created', object: await this.create(object, options) };
        return { operation: 'updated', object: await this.update(object, options) };
      } catch (error) {
        const again = isConflict(error) || (isAlreadyExists(error) && found === undefined) || isNotFound(error);
        if (!again || conflicts >= MAX_CONFLICTS) throw error;
      }
    }
  }

  /**
   * Resolves with the server's answer: a Status, or the object that now waits for its finalizers. The uid of the subject is a precondition.
   */
  async delete(subject: Subject, options: DeleteOptions = {}): Promise<KubeObject> {
    const { uid } = refOf(subject);
    const preconditions = uid === undefined ? options.preconditions : { uid, ...options.preconditions };
    const answer = await this.rest.delete<KubeObject>(this.#path(subject), {
      ...options,
      ...(preconditions === undefined ? {} : { preconditions }),
    });
    return this.#note(answer);
  }

  /**
   * Deletes all matching objects in one request. Throws a TypeError for a namespaced kind without a namespace, because no server deletes
   * from all namespaces at once.
   */
  async deleteAllOf(query: KindQuery, options: DeleteOptions = {}): Promise<void> {
    checkKeys('deleteAllOf', query, kindQueryKeys);
    const { kind, apiVersion, namespace, labelSelector, fieldSelector } = query;
    if (namespace === undefined && findResource(this.#served(), apiVersion, kind).namespaced) {
      throw new TypeError(`deleteAllOf needs a namespace: ${kind} is namespaced`);
    }
    await this.rest.deleteCollection(this.#selected(query), options, { query: { labelSelector, fieldSelector } });
  }

  /** Rejects with a 404 StatusError if the object does not exist, or another one has the name of a subject with a uid. */
  addFinalizer(subject: Subject, finalizer: string): Promise<KubeObject> {
    return this.#changeFinalizers(subject, (present) => [...new Set([...present, finalizer])]);
  }

  /**
   * Removes a finalizer, like an operator after its cleanup. Succeeds if the finalizer or the object is already gone; another object of the
   * name keeps its own.
   */
  async removeFinalizer(subject: Subject, finalizer: string): Promise<void> {
    try {
      await this.#changeFinalizers(subject, (present) => present.filter((name) => name !== finalizer));
    } catch (error) {
      if (!this.#saysGone(error, subject)) throw error;
    }
  }

  async #changeFinalizers(subject: Subject, change: (present: readonly string[]) => string[]): Promise<KubeObject> {
    for (let conflicts = 0; ; conflicts++) {
      const object = await this.#getExactly(subject);
      const present = object.metadata?.finalizers ?? [];
      const finalizers = change(present);
      if (finalizers.length === present.length) return object;
      const { uid, resourceVersion = null } = object.metadata ?? {};
      try {
        return await this.patch(subject, { metadata: { uid, resourceVersion, finalizers } });
      } catch (error) {
        if (!isConflict(error) || conflicts >= MAX_CONFLICTS) throw error;
      }
    }
  }

  #saysGone(error: unknown, subject: Subject): boolean {
    if (!(error instanceof UnknownKindError)) return isNotFound(error);
    const { apiVersion, kind } = refOf(subject);
    return this.#formerKinds.has(apiVersion, kind);
  }

  /** Like {@link get}, but not found if another object has the name of a subject with a uid. */
  async #getExactly<T extends ApiObject = KubeObject>(subject: Subject): Promise<T> {
    const object = await this.get<T>(subject);
    const { apiVersion, kind, name, uid } = refOf(subject);
    if (uid === undefined || uid === object.metadata?.uid) return object;
    throw newNotFound(findResource(this.#served(), apiVersion, kind), name);
  }

  #path(subject: Subject, subresource?: string): ResourceRef & { readonly name: string } {
    const { apiVersion, kind, namespace, name }: ObjectRef = refOf(subject);
    const ref = { ...collectionOf(findResource(this.#served(), apiVersion, kind), namespace), name };
    return subresource === undefined ? ref : { ...ref, subresource };
  }

  #selected({ apiVersion, kind, namespace }: KindQuery): ResourceRef {
    const { group, version, resource } = findResource(this.#served(), apiVersion, kind);
    return { gvr: { group, version, resource }, namespace };
  }

  #query(call: string, options: PatchOptions, type?: PatchType): Record<string, QueryValue> {
    if (type !== undefined && !PATCH_TYPES.includes(type)) {
      throw new TypeError(`the type of a patch is one of ${PATCH_TYPES.join(', ')}, not ${inspect(type)}`);
    }
    const fieldManager = type === APPLY ? this.#name : undefined;
    return writeQuery(call, options, { fieldManager, fieldValidation: this.#fieldValidation });
  }

  async #patch<T extends object>(
    ref: ResourceRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    query: Record<string, QueryValue>,
  ): Promise<T> {
    return this.#note(await this.rest.patch<T>(ref, patch, { query }));
  }

  #note<T extends object>(object: T): T {
    this.#seen(object);
    return object;
  }
}
