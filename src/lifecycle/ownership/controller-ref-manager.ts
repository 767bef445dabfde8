import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isInvalid, isObjectNotFound } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { decideClaim } from './claim-decision.ts';
import { controllerReference, isTerminating, type OwnerKind } from './controller-reference.ts';

/** True if the server refused a patch because the object of this name has another uid (LIFE-503). */
function isOtherObject(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
}

/** Maximum age of the owner's live read for an adoption, ms (LIFE-564). */
const LIVE_READ_MS = 1000;
/** Maximum number of adoptions after one live read of the owner (LIFE-564). */
const ADOPTIONS_A_READ = 20;

interface ControllerRefManagerOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly ownerKind: OwnerKind;
  readonly ownerGvr: GroupVersionResource;
  /** The cached owner. */
  readonly owner: KubeObject;
  readonly dependentKind: string;
  readonly dependents: GroupVersionResource;
  /** Selector and filter together. */
  readonly matches: (candidate: KubeObject) => boolean;
  /** A finalizer that is added on adoption and removed on release. */
  readonly finalizer?: string;
  readonly signal: AbortSignal;
}

/**
 * Adopts and releases dependents of one owner during one sync (LIFE-220 to LIFE-229). Invariant: nothing is adopted unless the owner was
 * read live, with the same uid and without a deletion timestamp, at most a second and twenty adoptions ago.
 */
export class ControllerRefManager {
  readonly #options: ControllerRefManagerOptions;
  #refusal: Error | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #adoptions = 0;

  constructor(options: ControllerRefManagerOptions) {
    this.#options = options;
  }

  /**
   * The candidates that belong to the owner afterwards; adopted ones in the server's version. Throws the first failure after all candidates
   * were tried, so that the sync is retried.
   */
  async claim<T extends KubeObject>(candidates: readonly T[]): Promise<T[]> {
    const { owner, matches } = this.#options;
    const claimed: T[] = [];
    const failures: unknown[] = [];
    for (const candidate of candidates) {
      const { verdict } = decideClaim(owner, candidate, matches);
      if (verdict === 'keep') claimed.push(candidate);
      if (verdict === 'keep' || verdict === 'ignore') continue;
      try {
        if (verdict === 'release') await this.release(candidate);
        else {
          const adopted = await this.adopt(candidate);
          if (adopted !== undefined) claimed.push(adopted);
        }
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return claimed;
  }

  /** Makes the owner the controller of an orphan (LIFE-222, LIFE-223). Undefined if the orphan is gone. */
  async adopt<T extends KubeObject>(candidate: T): Promise<T | undefined> {
    const { client, ownerKind, owner, dependents, dependentKind, finalizer, signal } = this.#options;
    const { namespace = '', name = '', uid, resourceVersion } = candidate.metadata ?? {};
    try {
      await this.#mayAdopt();
    } catch (error) {
      throw new Error(
        `can't adopt ${dependentKind} ${namespace}/${name} (${uid ?? ''}): ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
    const metadata = {
      ownerReferences: [controllerReference(ownerKind, owner)],
      uid,
      resourceVersion,
      ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
    };
    const patch = { type: 'application/strategic-merge-patch+json', body: { metadata } } as const;
    try {
      this.#adoptions++;
      return await client.patch<T>({ gvr: dependents, namespace, name }, patch, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    }
  }

  /** Removes the owner's reference. An object that is gone or was replaced counts as released (LIFE-225). */
  async release(candidate: KubeObject): Promise<void> {
    const { client, owner, dependents, finalizer, signal } = this.#options;
    const { namespace = '', name = '', uid } = candidate.metadata ?? {};
    const metadata = {
      uid,
      ownerReferences: [{ $patch: 'delete', uid: owner.metadata?.uid }],
      ...(finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] }),
    };
    const patch = { type: 'application/strategic-merge-patch+json', body: { metadata } } as const;
    try {
      await client.patch({ gvr: dependents, namespace, name }, patch, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name) || isOtherObject(error)) return;
      throw error;
    }
  }

  /** Reads the owner live. A refusal applies to the whole sync, an approval to a second and twenty adoptions (LIFE-221, LIFE-229). */
  async #mayAdopt(): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const now = this.#options.clock.monotonic();
    if (now - this.#readAt <= LIVE_READ_MS && this.#adoptions < ADOPTIONS_A_READ) return;
    try {
      await this.#readOwner();
    } catch (error) {
      this.#refusal = error instanceof Error ? error : new Error(String(error));
      throw this.#refusal;
    }
    this.#readAt = now;
    this.#adoptions = 0;
  }

  async #readOwner(): Promise<void> {
    const { client, ownerKind, ownerGvr, owner, signal } = this.#options;
    const { namespace = '', name = '', uid = '' } = owner.metadata ?? {};
    const live = await client.get({ gvr: ownerGvr, name, ...(namespace === '' ? {} : { namespace }) }, { signal });
    if (live.metadata?.uid !== uid) {
      throw new Error(
        `original ${ownerKind.kind} ${namespace}/${name} is gone: got uid ${live.metadata?.uid ?? ''}, wanted ${uid}`,
      );
    }
    if (isTerminating(live)) {
      throw new Error(`${namespace}/${name} has just been deleted at ${live.metadata.deletionTimestamp ?? ''}`);
    }
  }
}
