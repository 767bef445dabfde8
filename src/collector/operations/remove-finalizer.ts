import { ACCEPT_METADATA_JSON } from '../../client/codec/accept.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import type { RemoveFinalizerAction } from '../decide/actions.ts';
import type { Target } from '../decide/target.ts';
import type { CallContext } from './call-context.ts';
import { readMetadata, resourceRefOf } from './read-metadata.ts';
import { answerOf, restingOn, type VersionedAnswer, type WriteAnswer } from './write-answer.ts';

interface FinalizerContext extends CallContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the waits between attempts. */
  readonly stopping: AbortSignal;
}

/** The finalizers that stay, and the version of the object that had them. */
interface Remaining {
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
}

/** Maximum number of rounds of GET and PATCH after conflicts, before the key is requeued; and the waits between them (COL-153). */
const MAX_ATTEMPTS = 4;
const WAITS_MS = [10, 50, 250];
const WAIT_JITTER = 0.1;

/** P5: the finalizers that stay, at a version; null empties the list. The uid protects a successor of the same name (BETTER-17). */
function removeFinalizerPatch(uid: string, resourceVersion: string, finalizers: readonly string[]): object {
  return { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } };
}

/**
 * Removes one of the collector's finalizers from an object. It is a success if the finalizer or the object is gone already. A conflict that
 * outlasts the attempts is returned as a conflict. If the removal rests on one version, the first refusal is the answer.
 */
export async function removeFinalizer(
  context: FinalizerContext,
  action: RemoveFinalizerAction,
): Promise<VersionedAnswer> {
  const { target, finalizer, known, only } = action;
  if (known !== undefined) {
    // The version and finalizers in the graph save the GET. If they are out of date, the patch is refused. This is no failed attempt,
    // because nobody has read the object yet.
    const { resourceVersion, otherFinalizers } = known;
    const answer = await patchFinalizers(context, target, { resourceVersion, finalizers: otherFinalizers });
    if (answer.answer !== 'conflict' && answer.answer !== 'invalid') return answer;
    if (only !== undefined) return restingOn(only, answer);
  }
  for (let attempt = 1; ; attempt++) {
    const read = await readMetadata(context, target);
    if (read.state === 'error') return { answer: 'failed', error: read.error };
    if (read.state === 'absent' || read.object.uid !== target.uid) return { answer: 'absent' };
    const { resourceVersion, finalizers, deleting } = read.object;
    if (only !== undefined && resourceVersion !== only) return { answer: 'outdated' };
    if (!finalizers.includes(finalizer)) return { answer: 'accepted', unneeded: true, object: read.object };
    // The decision rests on a deletion that a restored server does not know (designs/0011).
    if (!deleting) return { answer: 'outdated' };
    const others = finalizers.filter((name) => name !== finalizer);
    const answer = await patchFinalizers(context, target, { resourceVersion, finalizers: others });
    if (answer.answer !== 'conflict') return answer;
    if (only !== undefined) return restingOn(only, answer);
    const exhausted = attempt === MAX_ATTEMPTS || !(await pause(context, attempt));
    if (exhausted) return { answer: 'conflict', error: retryLater(target, answer.error) };
  }
}

function patchFinalizers(context: FinalizerContext, target: Target, remaining: Remaining): Promise<WriteAnswer> {
  const { client, signal } = context;
  const body = removeFinalizerPatch(target.uid, remaining.resourceVersion, remaining.finalizers);
  return answerOf(context, target, () =>
    client.patch<KubeObject | null>(
      resourceRefOf(target),
      { type: 'application/merge-patch+json', body },
      { accept: ACCEPT_METADATA_JSON, signal },
    ),
  );
}

/** False if the collector stops meanwhile. */
async function pause({ clock, random, stopping }: FinalizerContext, attempt: number): Promise<boolean> {
  const wait = WAITS_MS[attempt - 1] ?? 0;
  await sleepUnlessAborted(clock, wait * (1 + WAIT_JITTER * (2 * random.float() - 1)), stopping);
  return !stopping.aborted;
}

function retryLater({ apiVersion, kind, namespace, name, uid }: Target, cause: Error | undefined): Error {
  const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
  const message = `updateMaxRetries(${MAX_ATTEMPTS}) has reached. The garbage collector will retry later for owner ${owner}`;
  return new Error(message, { cause });
}
