import { ACCEPT_METADATA_JSON } from '../../client/accept.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { PatchType } from '../../client/rest-client.ts';
import type { RemoveReferencesAction, UnblockReferencesAction } from '../decide/actions.ts';
import type { ReferencesAnswerKind } from '../decide/after-remove-references.ts';
import type { Target } from '../decide/target.ts';
import type { CallContext } from './call-context.ts';
import type { PatchSupport } from './patch-support.ts';
import { readMetadata, resourceRefOf } from './read-metadata.ts';
import { answerOf, type WriteAnswer } from './write-answer.ts';

export interface PatchContext extends CallContext {
  readonly support: PatchSupport;
}

export interface ReferencesAnswer extends Omit<WriteAnswer, 'answer'> {
  readonly answer: ReferencesAnswerKind;
}

/** P1: by uid of the owner, all of them in one patch (COL-160); at a version where the decision rests on one. */
function removeReferencesPatch(target: Target, owners: readonly string[], resourceVersion?: string): object {
  const ownerReferences = owners.map((uid) => ({ $patch: 'delete', uid }));
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  return { metadata: { uid: target.uid, ...version, ownerReferences } };
}

/** P2: the complete list that remains, at the version it was read at; null empties it (COL-161). */
function remainingReferencesPatch(resourceVersion: string, remaining: readonly OwnerReference[]): object {
  return { metadata: { resourceVersion, ownerReferences: remaining.length === 0 ? null : remaining } };
}

/** P3: only what blocked, now with `blockOwnerDeletion: false` (COL-162), at the version it was read at. */
function unblockReferencesPatch({ target, references, resourceVersion }: UnblockReferencesAction): object {
  return { metadata: { uid: target.uid, resourceVersion, ownerReferences: references } };
}

export async function removeReferences(
  context: PatchContext,
  action: RemoveReferencesAction,
): Promise<ReferencesAnswer> {
  const { target, owners, resourceVersion } = action;
  if (context.support.takesStrategic(target)) {
    const answer = await send(context, target, {
      type: 'application/strategic-merge-patch+json',
      body: removeReferencesPatch(target, owners, resourceVersion),
    });
    if (answer.answer !== 'unsupportedMediaType') return answer;
    context.support.noteUnsupported(target);
  }
  const gone = new Set(owners);
  return replaceReferences(context, target, {
    next: (references) => references.filter(({ uid }) => !gone.has(uid)),
    ...(resourceVersion === undefined ? {} : { only: resourceVersion }),
  });
}

export async function unblockReferences(
  context: PatchContext,
  action: UnblockReferencesAction,
): Promise<ReferencesAnswer> {
  const { target, resourceVersion, all } = action;
  if (context.support.takesStrategic(target) && !namesOneUidTwice(action)) {
    const answer = await send(context, target, {
      type: 'application/strategic-merge-patch+json',
      body: unblockReferencesPatch(action),
    });
    if (answer.answer !== 'unsupportedMediaType') return answer;
    context.support.noteUnsupported(target);
  }
  // P4 (COL-163), at the version that was decided upon, as P3: one that came in between may block an owner that nobody decided about.
  return replaceReferences(context, target, { next: () => all, only: resourceVersion });
}

/**
 * A strategic merge patch finds an element of the list by its uid. Of two references to one uid (COL-235) it changes the
 * first, for ever, whichever of them blocks.
 */
function namesOneUidTwice({ references, all }: UnblockReferencesAction): boolean {
  return references.some(({ uid }) => all.filter((reference) => reference.uid === uid).length > 1);
}

/**
 * A merge patch replaces the whole list, so it is made from a fresh read and guarded by that read's version. The uid is
 * compared here: another object of the name is, for us, absent.
 */
async function replaceReferences(
  context: PatchContext,
  target: Target,
  change: {
    readonly next: (references: readonly OwnerReference[]) => readonly OwnerReference[];
    /** The patch rests on this version: of any other none is sent. */
    readonly only?: string;
  },
): Promise<ReferencesAnswer> {
  const read = await readMetadata(context, target);
  if (read.state === 'error') return { answer: 'failed', error: read.error };
  if (read.state === 'absent' || read.object.uid !== target.uid) return { answer: 'absent' };
  const { resourceVersion, ownerReferences } = read.object;
  if (change.only !== undefined && change.only !== resourceVersion) return { answer: 'outdated' };
  const remaining = change.next(ownerReferences);
  const unchanged =
    remaining.length === ownerReferences.length &&
    remaining.every((reference, index) => reference === ownerReferences[index]);
  if (unchanged) return { answer: 'accepted', unneeded: true, object: read.object };
  return send(context, target, {
    type: 'application/merge-patch+json',
    body: remainingReferencesPatch(resourceVersion, remaining),
  });
}

function send(context: PatchContext, target: Target, patch: { type: PatchType; body: object }): Promise<WriteAnswer> {
  const { client, signal } = context;
  return answerOf(context, target, () =>
    client.patch<KubeObject | null>(resourceRefOf(target), patch, { accept: ACCEPT_METADATA_JSON, signal }),
  );
}
