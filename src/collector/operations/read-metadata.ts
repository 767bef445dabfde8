import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import { asError } from '../../base/errors/thrown.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isNotFound, isObjectNotFound } from '../../api/status-error.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import { type LiveObject, liveObjectOf } from '../decide/live-object.ts';
import type { Target } from '../decide/target.ts';
import type { CallContext } from './call-context.ts';

/** The place of the target in the API. Its apiVersion comes from the REST mapper and always parses. */
export function resourceRefOf(target: Target): ResourceRef {
  const { group, version } = parseGroupVersion(target.apiVersion) ?? { group: '', version: target.apiVersion };
  return {
    gvr: { group, version, resource: target.resource },
    name: target.name,
    namespace: target.namespace === '' ? undefined : target.namespace,
  };
}

/** The answer should have contained the object, and contained something else. It says nothing about the object (COL-156). */
export class NoObjectError extends Error {
  constructor(target: Target) {
    super(`the answer about ${target.resource} "${target.name}" has no object of that name`);
    this.name = 'NoObjectError';
  }
}

/**
 * `LatestAnswer` without `unasked`, and with the error for the log. `absent` only if the answer proves it (COL-116). Every other answer
 * without the object is an error, and no ground to act on.
 */
export type ReadAnswer =
  | { readonly state: 'found'; readonly target: Target; readonly object: LiveObject }
  | { readonly state: 'absent'; readonly target: Target }
  | { readonly state: 'error'; readonly target: Target; readonly error: Error };

/**
 * GET by name. Reads the most recent state, without a resourceVersion parameter (COL-170), unless a version is given. Then it reads a state
 * that is not older, so that a server that lags behind answers 504 instead of 404 for an object that it does not know yet.
 */
export async function readMetadata(context: CallContext, target: Target, notOlderThan?: string): Promise<ReadAnswer> {
  const { client, signal, onPathNotFound } = context;
  try {
    const object = await client.get<KubeObject | null>(resourceRefOf(target), {
      accept: ACCEPT_METADATA_JSON,
      query: { resourceVersion: notOlderThan },
      signal,
    });
    const live = liveObjectOf(object?.metadata ?? {});
    // Without this check, a page of a proxy would look like an object with another uid, and so prove that our object is absent.
    if (live.uid === '' || live.name !== target.name) throw new NoObjectError(target);
    return { state: 'found', target, object: live };
  } catch (error) {
    if (isObjectNotFound(error, target.name)) return { state: 'absent', target };
    if (isNotFound(error)) onPathNotFound();
    return { state: 'error', target, error: asError(error) };
  }
}
