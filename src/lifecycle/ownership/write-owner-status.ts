import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { SharedCache } from '../kit/shared-informers.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import type { Expectations } from './expectations.ts';

interface OwnerStatusWrite<T extends KubeObject> {
  readonly gvr: GroupVersionResource;
  readonly key: string;
  /** The owner with its next status, and with the version on which that rests. */
  readonly owner: T;
  readonly cache: SharedCache<T>;
  readonly expectations: Expectations;
  /**
   * After a conflict: `decide-again` writes nothing more, because the status depends on the changed object; `write-on-live` writes the
   * same status once more on the live object, because it only counts dependents (LIFE-266).
   */
  readonly onConflict: 'decide-again' | 'write-on-live';
  readonly signal: AbortSignal;
}

/**
 * Writes the status of an owner, and records the state that its cache must show before the next sync (LIFE-009). So after a conflict, or
 * when the owner is gone, no event of a dependent starts a sync that decides from the stale cache. `changed` means that the caller decides
 * again. Throws any other refusal.
 */
export async function writeOwnerStatus<T extends KubeObject>(
  client: RestClient,
  { gvr, key, owner, cache, expectations, onConflict, signal }: OwnerStatusWrite<T>,
): Promise<'written' | 'gone' | 'changed'> {
  const write = (object: T): Promise<T | 'gone' | 'changed'> =>
    updateExactly(client, { gvr, object, subresource: 'status', signal });
  let result = await write(owner);
  if (result === 'changed') {
    const live = await readLive(client, gvr, owner, signal);
    if (live !== 'gone') expectations.wrote(key, cache, live);
    if (live === 'gone') result = 'gone';
    else if (onConflict === 'write-on-live') result = await write({ ...live, status: (owner as StatusHolder).status });
  }
  if (result === 'changed') return 'changed';
  if (result === 'gone') {
    expectations.deleted(key, cache, owner);
    return 'gone';
  }
  expectations.wrote(key, cache, result);
  return 'written';
}

interface StatusHolder {
  readonly status?: unknown;
}

/** `gone` also if another object has the owner's name by now. */
async function readLive<T extends KubeObject>(
  client: RestClient,
  gvr: GroupVersionResource,
  { metadata }: T,
  signal: AbortSignal,
): Promise<T | 'gone'> {
  const { namespace = '', name = '', uid } = metadata ?? {};
  try {
    const live = await client.get<T>({ gvr, name, ...(namespace === '' ? {} : { namespace }) }, { signal });
    return live.metadata?.uid === uid ? live : 'gone';
  } catch (error) {
    if (isObjectNotFound(error, name)) return 'gone';
    throw error;
  }
}
