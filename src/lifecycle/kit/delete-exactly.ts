import type { PropagationPolicy } from '../../api/deletion/delete-options.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { isWithheld } from './dry-run.ts';

interface ExactDeletion {
  readonly gvr: GroupVersionResource;
  /** Exactly this object, and if `content` matters exactly this version of it (LIFE-013). */
  readonly object: KubeObject;
  readonly content?: 'matters' | 'irrelevant';
  readonly propagationPolicy?: PropagationPolicy;
  readonly gracePeriodSeconds?: number;
  /** As in the metric of deletions; a dry run reports it. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

/**
 * Deletes one object with preconditions. `gone` means that it no longer existed, which is success (LIFE-012). `changed` means that the
 * server has another object or version, so the caller decides again. `withheld` means that the controller runs dry. Throws any other
 * refusal.
 */
export async function deleteExactly(
  client: RestClient,
  { gvr, object, content = 'matters', propagationPolicy, gracePeriodSeconds, reason, signal }: ExactDeletion,
): Promise<'deleted' | 'gone' | 'changed' | 'withheld'> {
  const { namespace, name = '', uid, resourceVersion } = object.metadata ?? {};
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined || content === 'irrelevant' ? {} : { resourceVersion }),
  };
  try {
    const answer = await client.delete(
      { gvr, name, ...(namespace === undefined ? {} : { namespace }) },
      {
        preconditions,
        ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      },
      { signal, why: reason },
    );
    return isWithheld(answer) ? 'withheld' : 'deleted';
  } catch (error) {
    if (isObjectNotFound(error, name)) return 'gone';
    if (isConflict(error)) return 'changed';
    throw error;
  }
}
