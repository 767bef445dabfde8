import type { KubeObject, OwnerReference } from '../../../src/api/meta/object-meta.ts';
import { isConflict, isNotFound } from '../../../src/api/status-error.ts';
import type { RestClient } from '../../../src/client/rest/rest-client.ts';
import { configMap, secret } from '../kinds.ts';

const NAMESPACE = 'default';
/** Has this name, whichever it is. */
export const OWNER = 'web';
const ownerRef = { gvr: configMap.gvr, namespace: NAMESPACE, name: OWNER };
const dependents = { gvr: secret.gvr, namespace: NAMESPACE };

/** The owner as it was read before a dependent is adopted; undefined when it may not adopt. */
export interface Look {
  readonly owner: KubeObject;
}

/**
 * A controller as those of Kubernetes are: whoever matches and has no controller is adopted, after the owner was read live once
 * (lifecycle 14, LIFE-564). Between the read and the patches anything may happen; that is what it is for.
 */
export class Adopter {
  readonly #client: RestClient;

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** The one live read before a sync adopts (LIFE-551). */
  async look(): Promise<Look | undefined> {
    try {
      const owner = await this.#client.get(ownerRef);
      return (owner.metadata?.deletionTimestamp ?? undefined) === undefined ? { owner } : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Everything that has no controller, by a patch with uid and version; what changed meanwhile is left for the next sync. */
  async adopt({ owner }: Look): Promise<number> {
    const { items } = await this.#client.list(dependents);
    let adopted = 0;
    for (const { metadata } of items) {
      const references = metadata?.ownerReferences ?? [];
      if (references.some(({ controller }) => controller === true)) continue;
      if (await this.#patch(metadata?.name ?? '', metadata, [...references, controllerOf(owner)])) adopted++;
    }
    return adopted;
  }

  /** Makes a dependent for an owner as it was read before, without another read (window C). */
  async create(name: string, { owner }: Look): Promise<void> {
    const metadata = { name, ownerReferences: [controllerOf(owner)] };
    await this.#client.create(dependents, { apiVersion: 'v1', kind: secret.kind, metadata });
  }

  async #patch(
    name: string,
    metadata: KubeObject['metadata'],
    references: readonly OwnerReference[],
  ): Promise<boolean> {
    const body = {
      metadata: { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion, ownerReferences: references },
    };
    try {
      await this.#client.patch({ ...dependents, name }, { type: 'application/merge-patch+json', body });
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }
}

function controllerOf({ apiVersion = '', kind = '', metadata }: KubeObject): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}
