import { inspect } from 'node:util';
import type { DeleteOptions } from '../api/deletion/delete-options.ts';
import type { ResourceInfo } from '../api/kinds/resource-info.ts';
import type { KubeObject } from '../api/meta/object-meta.ts';
import { isConflict, isNotFound, newNotFound } from '../api/status-error.ts';
import type { ResourceRef } from '../client/resource-path.ts';
import type { PatchType, RestClient } from '../client/rest-client.ts';
import { checkKeys } from './check-options.ts';
import type { FormerKinds } from './former-kinds.ts';
import { collectionOf, findResource, type ObjectRef, refOf, type Subject, UnknownKindError } from './object-ref.ts';

export interface KindQuery {
  readonly apiVersion: string;
  readonly kind: string;
  /** All namespaces when left out. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** As client-go's. */
export interface PatchOptions {
  /** Who the fields belong to then. For an apply the name of the client unless given; otherwise left to the server. */
  readonly fieldManager?: string;
  /** Of an apply: takes fields that others have, where it would be a conflict. */
  readonly force?: boolean;
}

const PATCH_TYPES: readonly PatchType[] = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** The fields of {@link KindQuery}. */
export const kindQueryKeys: readonly (keyof KindQuery)[] = [
  'apiVersion',
  'kind',
  'namespace',
  'labelSelector',
  'fieldSelector',
];

export interface ClusterClientOptions {
  /** In the trace, for faults, and as the manager of what is applied. */
  readonly name: string;
  readonly rest: RestClient;
  readonly served: () => readonly ResourceInfo[];
  readonly formerKinds: FormerKinds;
  /** Told of every object the server answers with. */
  readonly seen: (object: KubeObject) => void;
}

/** How often a change is tried again after a conflict. */
const MAX_CONFLICTS = 10;

/** Requests by apiVersion and kind, as objects have them. Failing answers are StatusErrors, as everywhere. */
export class ClusterClient {
  /** For everything else: any path, any body, raw bytes. */
  readonly rest: RestClient;
  readonly #name: string;
  readonly #served: () => readonly ResourceInfo[];
  readonly #formerKinds: FormerKinds;
  readonly #seen: (object: KubeObject) => void;

  constructor({ name, rest, served, formerKinds, seen }: ClusterClientOptions) {
    this.rest = rest;
    this.#name = name;
    this.#served = served;
    this.#formerKinds = formerKinds;
    this.#seen = seen;
  }

  /** The answer has what was sent and what the server added: uid, resourceVersion, defaults. */
  async create<T extends KubeObject = KubeObject>(object: T): Promise<T & KubeObject> {
    const { apiVersion = '', kind = '', metadata } = object;
    const info = findResource(this.#served(), apiVersion, kind);
    return this.#note(await this.rest.create<T & KubeObject>(collectionOf(info, metadata?.namespace), object));
  }

  /** Rejects with a 404 StatusError when there is none; see {@link find}. */
  async get<T extends KubeObject = KubeObject>(subject: Subject): Promise<T> {
    return this.#note(await this.rest.get<T>(this.#path(subject)));
  }

  /**
   * Undefined when there is none, or, for a subject with a uid, when another object has taken its name; also when its kind
   * went with its definition.
   */
  async find<T extends KubeObject = KubeObject>(subject: Subject): Promise<T | undefined> {
    try {
      return await this.#getExactly<T>(subject);
    } catch (error) {
      if (this.#saysGone(error, subject)) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject = KubeObject>(query: KindQuery): Promise<T[]> {
    checkKeys('list', query, kindQueryKeys);
    const { apiVersion, kind, namespace, labelSelector, fieldSelector } = query;
    const { group, version, resource } = findResource(this.#served(), apiVersion, kind);
    const ref = { gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) };
    const { items } = await this.rest.list<T>(ref, { query: { labelSelector, fieldSelector } });
    // Items of a list do not carry what the list already says.
    return items.map((item) => this.#note({ ...item, apiVersion, kind }));
  }

  /** PUT: the whole object, at the resourceVersion it carries. */
  async update<T extends KubeObject = KubeObject>(object: T): Promise<T & KubeObject> {
    return this.#note(await this.rest.update<T & KubeObject>(this.#path(object), object));
  }

  async updateStatus<T extends KubeObject = KubeObject>(object: T): Promise<T & KubeObject> {
    const path = { ...this.#path(object), subresource: 'status' };
    return this.#note(await this.rest.update<T & KubeObject>(path, object));
  }

  /** A merge patch unless another type is named. An apply creates the object when there is none. */
  async patch<T extends KubeObject = KubeObject>(
    subject: Subject,
    body: unknown,
    type: PatchType = 'application/merge-patch+json',
    options: PatchOptions = {},
  ): Promise<T> {
    if (!PATCH_TYPES.includes(type)) {
      throw new TypeError(`the type of a patch is one of ${PATCH_TYPES.join(', ')}, not ${inspect(type)}`);
    }
    checkKeys('patch', options, ['fieldManager', 'force']);
    const { force, fieldManager = type === 'application/apply-patch+yaml' ? this.#name : undefined } = options;
    const query = { fieldManager, force };
    return this.#note(await this.rest.patch<T>(this.#path(subject), { type, body }, { query }));
  }

  /** What the server answers: a Status, or the object that now waits for its finalizers. The uid of the subject is a precondition. */
  async delete(subject: Subject, options: DeleteOptions = {}): Promise<KubeObject> {
    const { uid } = refOf(subject);
    const preconditions = uid === undefined ? options.preconditions : { uid, ...options.preconditions };
    const answer = await this.rest.delete<KubeObject>(this.#path(subject), {
      ...options,
      ...(preconditions === undefined ? {} : { preconditions }),
    });
    return this.#note(answer);
  }

  /** Rejects with a 404 StatusError when there is no such object, or, for a subject with a uid, when another has taken its name. */
  addFinalizer(subject: Subject, finalizer: string): Promise<KubeObject> {
    return this.#changeFinalizers(subject, (present) => [...new Set([...present, finalizer])]);
  }

  /**
   * What an operator does when it has cleaned up. No error when the finalizer, or the object, is not there any more; another
   * object of the name keeps its own.
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

  /** Like {@link get}, but another object that has taken the name of a subject with a uid is not found either. */
  async #getExactly<T extends KubeObject = KubeObject>(subject: Subject): Promise<T> {
    const object = await this.get<T>(subject);
    const { apiVersion, kind, name, uid } = refOf(subject);
    if (uid === undefined || uid === object.metadata?.uid) return object;
    throw newNotFound(findResource(this.#served(), apiVersion, kind), name);
  }

  #path(subject: Subject): ResourceRef & { readonly name: string } {
    const { apiVersion, kind, namespace, name }: ObjectRef = refOf(subject);
    return { ...collectionOf(findResource(this.#served(), apiVersion, kind), namespace), name };
  }

  #note<T extends KubeObject>(object: T): T {
    this.#seen(object);
    return object;
  }
}
