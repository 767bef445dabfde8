import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { PatchType } from '../../client/rest/rest-client.ts';
import type { KnownReferences, RemoveReferencesAction, UnblockReferencesAction } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';
import type { Uid } from '../types/identity.ts';
import type { CallContext } from './call-context.ts';
import type { PatchSupport } from './patch-support.ts';
import { readMetadata, resourceRefOf } from './read-metadata.ts';
import { answerOf, restingOn, type VersionedAnswer, type WriteAnswer } from './write-answer.ts';

export interface PatchContext extends CallContext {
  readonly support: PatchSupport;
}

/** P1: removes references by uid of the owner, all in one patch (COL-160). Names a version if the decision rests on one. */
function removeReferencesPatch({ target, owners, only }: RemoveReferencesAction): object {
  const ownerReferences = owners.map((uid) => ({ $patch: 'delete', uid }));
  const version = only === undefined ? {} : { resourceVersion: only };
  return { metadata: { uid: target.uid, ...version, ownerReferences } };
}

/**
 * P2 and P4: the complete list, at the version from which it was made; null empties it (COL-161, COL-163). The uid protects a successor of
 * the same name, in case a restored server gives out a version again.
 */
function allReferencesPatch(uid: Uid, { resourceVersion, references }: KnownReferences): object {
  return { metadata: { uid, resourceVersion, ownerReferences: references.length === 0 ? null : references } };
}

/** P3: only the references that blocked, now with `blockOwnerDeletion: false` (COL-162), at the version that was read. */
function unblockReferencesPatch({ target, references, resourceVersion }: UnblockReferencesAction): object {
  return { metadata: { uid: target.uid, resourceVersion, ownerReferences: references } };
}

export async function removeReferences(
  context: PatchContext,
  action: RemoveReferencesAction,
): Promise<VersionedAnswer> {
  const { target, known, only } = action;
  if (context.support.takesStrategic(target)) {
    const answer = await send(context, target, {
      type: 'application/strategic-merge-patch+json',
      body: removeReferencesPatch(action),
    });
    if (answer.answer !== 'unsupportedMediaType') return restingOn(only, answer);
    context.support.noteUnsupported(target);
  }
  const gone = new Set(action.owners);
  if (known?.references.some(({ uid }) => gone.has(uid)) === true) {
    const answer = await replaceReferences(context, target, without(gone, known));
    if (answer.answer !== 'conflict' || only !== undefined) return restingOn(only, answer);
  }
  const read = await readMetadata(context, target);
  if (read.state === 'error') return { answer: 'failed', error: read.error };
  if (read.state === 'absent' || read.object.uid !== target.uid) return { answer: 'absent' };
  const { resourceVersion, ownerReferences } = read.object;
  if (only !== undefined && only !== resourceVersion) return { answer: 'outdated' };
  const remaining = without(gone, { resourceVersion, references: ownerReferences });
  if (remaining.references.length === ownerReferences.length) {
    return { answer: 'accepted', unneeded: true, object: read.object };
  }
  return restingOn(only, await replaceReferences(context, target, remaining));
}

export async function unblockReferences(
  context: PatchContext,
  action: UnblockReferencesAction,
): Promise<VersionedAnswer> {
  const { target, resourceVersion, all } = action;
  if (context.support.takesStrategic(target) && !namesOneUidTwice(action)) {
    const answer = await send(context, target, {
      type: 'application/strategic-merge-patch+json',
      body: unblockReferencesPatch(action),
    });
    if (answer.answer !== 'unsupportedMediaType') return restingOn(resourceVersion, answer);
    context.support.noteUnsupported(target);
  }
  // The patch names the version of the decision, as P3 does: a reference that was added since may block an owner that no decision has
  // considered.
  return restingOn(resourceVersion, await replaceReferences(context, target, { resourceVersion, references: all }));
}

/**
 * A strategic merge patch finds an element of the list by its uid. If two references name one uid (COL-235), it always changes the first,
 * whichever of them blocks.
 */
function namesOneUidTwice({ references, all }: UnblockReferencesAction): boolean {
  return references.some(({ uid }) => all.filter((reference) => reference.uid === uid).length > 1);
}

function without(gone: ReadonlySet<Uid>, { resourceVersion, references }: KnownReferences): KnownReferences {
  return { resourceVersion, references: references.filter(({ uid }) => !gone.has(uid)) };
}

function replaceReferences(context: PatchContext, target: Target, next: KnownReferences): Promise<WriteAnswer> {
  return send(context, target, { type: 'application/merge-patch+json', body: allReferencesPatch(target.uid, next) });
}

function send(context: PatchContext, target: Target, patch: { type: PatchType; body: object }): Promise<WriteAnswer> {
  const { client, signal } = context;
  return answerOf(context, target, () =>
    client.patch<KubeObject | null>(resourceRefOf(target), patch, { accept: ACCEPT_METADATA_JSON, signal }),
  );
}
