import type { DeleteOptions } from '../../../src/client/rest/delete-options.ts';
import { apiVersionOf } from '../../../src/api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../../src/api/meta/object-meta.ts';
import { isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound } from '../../../src/api/status-error.ts';
import type { ResourceRef } from '../../../src/client/rest/resource-path.ts';
import type { RestClient } from '../../../src/client/rest/rest-client.ts';
import { type ClientStep, type OwnerPlan, type Place, placeOf, type PlaceText, type Policy } from './plan.ts';
import { DEFINITIONS, definitionName, definitionOf, kindNamed } from './simulated-kinds.ts';

/** A finalizer of somebody who gives it up in the end. */
export const HOLD = 'x.io/hold';

/** Whoever changes things in the cluster, one request after the other. */
export class Clients {
  readonly #client: RestClient;
  /** All objects that were ever created at a place, oldest first: owners to refer to, whether they still exist or not. */
  readonly #made = new Map<PlaceText, KubeObject[]>();

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** Returns the result: `done`, or the reason why the step was not possible. */
  async do(step: ClientStep): Promise<string> {
    try {
      return (await this.#do(step)) ?? 'done';
    } catch (error) {
      if (isNotFound(error)) return 'not found';
      if (isAlreadyExists(error)) return 'exists';
      if (isInvalid(error)) return 'invalid';
      if (isConflict(error)) return 'conflict';
      // Nothing is created under a definition that is being deleted.
      if (isForbidden(error)) return 'forbidden';
      throw error;
    }
  }

  /** The answer has them know only what they know now: the server was put back to what it was. */
  remember(): () => void {
    const made = [...this.#made].map(([at, objects]) => [at, [...objects]] as const);
    return () => {
      this.#made.clear();
      for (const [at, objects] of made) this.#made.set(at, [...objects]);
    };
  }

  /** Takes the finalizer that is somebody's off an object. */
  release(place: Place): Promise<string> {
    return this.do({ do: 'release', at: `${place.kind}/${place.namespace}/${place.name}` });
  }

  async #do(step: ClientStep): Promise<string | undefined> {
    switch (step.do) {
      case 'create':
        return this.#create(step);
      case 'delete':
        await this.#client.delete(refOf(placeOf(step.at)), optionsOf(step.policy));
        return;
      case 'deleteAll': {
        const { gvr, namespaced } = kindNamed(step.kind);
        const body = Buffer.from(
          JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...optionsOf(step.policy) }),
        );
        const root = gvr.group === '' ? '/api/v1' : `/apis/${gvr.group}/${gvr.version}`;
        const path = `${root}${namespaced ? `/namespaces/${step.namespace}` : ''}/${gvr.resource}`;
        await this.#client.request({ method: 'DELETE', path, body, contentType: 'application/json' });
        return;
      }
      case 'refer': {
        const ownerReferences = step.owners.map((owner) => this.#reference(owner));
        return this.#patch(step.at, { ownerReferences });
      }
      case 'label':
        return this.#patch(step.at, { labels: { value: step.value } });
      case 'strip':
        return this.#patch(step.at, { finalizers: null });
      case 'hold':
      case 'release':
        return this.#hold(step);
      case 'define':
        await this.#client.create({ gvr: DEFINITIONS.gvr }, definitionOf(kindNamed(step.kind)));
        return;
      case 'undefine':
        await this.#client.delete({ gvr: DEFINITIONS.gvr, name: definitionName(kindNamed(step.kind)) });
        return;
    }
  }

  async #create(step: ClientStep & { readonly do: 'create' }): Promise<undefined> {
    const place = placeOf(step.at);
    const { kind, gvr, namespaced, body } = kindNamed(place.kind);
    const { owners, finalizers } = step;
    const object = {
      apiVersion: apiVersionOf(gvr),
      kind,
      metadata: {
        name: place.name,
        ...(owners === undefined ? {} : { ownerReferences: owners.map((owner) => this.#reference(owner)) }),
        ...(finalizers === undefined ? {} : { finalizers: finalizers.map((name) => (name === 'hold' ? HOLD : name)) }),
      },
      ...body,
    };
    const collection = { gvr, ...(namespaced ? { namespace: place.namespace } : {}) };
    const created = await this.#client.create(collection, object);
    const made = this.#made.get(step.at);
    if (made === undefined) this.#made.set(step.at, [created]);
    else made.push(created);
  }

  async #hold(step: ClientStep & { readonly do: 'hold' | 'release' }): Promise<undefined> {
    const { metadata } = await this.#client.get(refOf(placeOf(step.at)));
    const others = (metadata?.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
    const finalizers = step.do === 'hold' ? [...others, HOLD] : others;
    await this.#patch(step.at, { finalizers, resourceVersion: metadata?.resourceVersion });
  }

  async #patch(at: PlaceText, metadata: Record<string, unknown>): Promise<undefined> {
    await this.#client.patch(refOf(placeOf(at)), { type: 'application/merge-patch+json', body: { metadata } });
  }

  #reference({ at, before = 0, block, named, as }: OwnerPlan): OwnerReference {
    const place = placeOf(at);
    const { kind, gvr } = kindNamed(as ?? place.kind);
    const owner = this.#made.get(at)?.at(-1 - before);
    return {
      apiVersion: apiVersionOf(gvr),
      kind,
      name: named ?? place.name,
      uid: owner?.metadata?.uid ?? uidOfNothing(at),
      ...(block === undefined ? {} : { blockOwnerDeletion: block }),
    };
  }
}

function refOf({ kind, namespace, name }: Place): ResourceRef {
  const { gvr, namespaced } = kindNamed(kind);
  return { gvr, name, ...(namespaced ? { namespace } : {}) };
}

function optionsOf(policy: Policy): DeleteOptions {
  return policy === 'none' ? {} : { propagationPolicy: policy };
}

/** The same for the same place; of nothing that ever was. */
function uidOfNothing(at: PlaceText): string {
  const digits = Buffer.from(at).toString('hex').slice(-12).padStart(12, '0');
  return `00000000-0000-4000-8000-${digits}`;
}
