import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isObjectNotFound } from '../../api/status-error.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { isWithheld } from '../kit/dry-run.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import { isControlledBy, type OwnerKind } from '../ownership/controller-reference.ts';
import type { Dependents } from '../ownership/dependents.ts';
import type { Expectations } from '../ownership/expectations.ts';
import { ownerSelector, selects } from '../ownership/owner-selector.ts';
import {
  byRevisionNumber,
  type ControllerRevision,
  equalTemplates,
  type RevisionDecision,
  templateOf,
} from './controller-revision.ts';

export const CONTROLLER_REVISIONS: GroupVersionResource = {
  group: 'apps',
  version: 'v1',
  resource: 'controllerrevisions',
};

interface ControllerHistoryOptions extends SharedContext {
  readonly controller: string;
  readonly ownerKind: OwnerKind;
  readonly ownerGvr: GroupVersionResource;
  readonly cache: SharedCache<ControllerRevision>;
  readonly dependents: Dependents;
  readonly expectations: Expectations;
}

/** Reads and writes the ControllerRevisions of owners of one kind (LIFE-600 to LIFE-602). Every write counts as a write of its owner. */
export class ControllerHistory {
  readonly #options: ControllerHistoryOptions;

  constructor(options: ControllerHistoryOptions) {
    this.#options = options;
  }

  /** The owner's sorted revisions, including matching orphans, which it adopts. */
  async claim(owner: KubeObject, signal: AbortSignal): Promise<ControllerRevision[]> {
    const { client, clock, ownerKind, ownerGvr, dependents } = this.#options;
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind,
      ownerGvr,
      owner,
      dependentKind: 'ControllerRevision',
      dependents: CONTROLLER_REVISIONS,
      matches: (revision) => selects(ownerSelector(owner), revision),
      signal,
    });
    const claimed = await manager.claim(dependents.candidates<ControllerRevision>(owner));
    return claimed.toSorted(byRevisionNumber);
  }

  /** The server's object after a decision; `collision` if another object has the name. */
  async perform(
    key: string,
    owner: KubeObject,
    { verdict, revision }: RevisionDecision,
    signal: AbortSignal,
  ): Promise<ControllerRevision | 'collision'> {
    if (verdict === 'current') return revision;
    const { client } = this.#options;
    const { namespace = '', name = '' } = revision.metadata ?? {};
    const ref = { gvr: CONTROLLER_REVISIONS, namespace, name };
    let written: ControllerRevision;
    if (verdict === 'raise') written = await client.update(ref, revision, { signal });
    else {
      try {
        written = await client.create({ gvr: CONTROLLER_REVISIONS, namespace }, revision, { signal });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        written = await client.get(ref, { signal });
        if (!isControlledBy(written, owner) || !equalTemplates(templateOf(written), templateOf(revision)))
          return 'collision';
      }
    }
    this.#wrote(key, written);
    return written;
  }

  /** Deletes exactly these revisions; one that is already gone counts as deleted. */
  async truncate(key: string, surplus: readonly ControllerRevision[], signal: AbortSignal): Promise<void> {
    const { client, metrics, controller, expectations, cache } = this.#options;
    for (const each of surplus) {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = each.metadata ?? {};
      const ref = { gvr: CONTROLLER_REVISIONS, namespace, name };
      try {
        const call = { signal, why: 'history' };
        const answer = await client.delete(ref, { preconditions: { uid, resourceVersion } }, call);
        const result = isWithheld(answer) ? 'withheld' : 'deleted';
        const labels = { controller, resource: 'controllerrevisions', reason: 'history', result };
        deletionCounter(metrics).inc(labels);
        expectations.deleted(key, cache, each);
      } catch (error) {
        if (!isObjectNotFound(error, name)) throw error;
      }
    }
  }

  #wrote(key: string, revision: ControllerRevision): void {
    this.#options.expectations.wrote(key, this.#options.cache, revision);
  }
}
