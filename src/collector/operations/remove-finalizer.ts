import { type Clock, sleep } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { RestClient } from '../../client/rest-client.ts';
import type { RemoveFinalizerAction } from '../decide/actions.ts';
import { METADATA_ACCEPT, readMetadata, resourceRefOf } from './read-metadata.ts';
import { answerOf, type WriteAnswer } from './write-answer.ts';

export interface FinalizerContext {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Attempts against conflicts before the key goes back to its queue, and the waits between them (COL-153). */
const MAX_ATTEMPTS = 4;
const WAITS_MS = [10, 50, 250];
const WAIT_JITTER = 0.1;

/** P5: what is left of the list at a version; null empties it. The uid keeps it from a successor of the name (BETTER-17). */
export function removeFinalizerPatch(uid: string, resourceVersion: string, finalizers: readonly string[]): object {
  return { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } };
}

/**
 * Takes one of the collector's finalizers off an object. Gone already, or the object gone, is success. A conflict that
 * outlasts the attempts is answered as one.
 */
export async function removeFinalizer(context: FinalizerContext, action: RemoveFinalizerAction): Promise<WriteAnswer> {
  const { client, clock, random, signal } = context;
  const { target, finalizer } = action;
  let known = action.known && {
    resourceVersion: action.known.resourceVersion,
    finalizers: action.known.otherFinalizers,
  };
  for (let attempt = 0; ; attempt++) {
    if (known === undefined) {
      const read = await readMetadata(client, target, signal);
      if (read.state === 'error') return { answer: 'failed', error: read.error };
      if (read.state === 'absent' || read.object.uid !== target.uid) return { answer: 'absent' };
      if (!read.object.finalizers.includes(finalizer)) return { answer: 'accepted', object: read.object };
      known = {
        resourceVersion: read.object.resourceVersion,
        finalizers: read.object.finalizers.filter((name) => name !== finalizer),
      };
    }
    const body = removeFinalizerPatch(target.uid, known.resourceVersion, known.finalizers);
    const answer = await answerOf(target.name, () =>
      client.patch(
        resourceRefOf(target),
        { type: 'application/merge-patch+json', body },
        { accept: METADATA_ACCEPT, signal },
      ),
    );
    if (answer.answer !== 'conflict') return answer;
    const wait = WAITS_MS[attempt];
    if (wait === undefined || attempt + 1 >= MAX_ATTEMPTS) {
      const message = `updateMaxRetries(${MAX_ATTEMPTS}) has reached. The garbage collector will retry later for owner ${target.apiVersion}/${target.kind}, namespace: ${target.namespace}, name: ${target.name}, uid: ${target.uid}`;
      return { answer: 'conflict', error: new Error(message, { cause: answer.error }) };
    }
    // The first conflict of a guess costs no wait: nobody has read the object yet.
    const guessed = attempt === 0 && action.known !== undefined;
    if (!guessed) await sleep(clock, wait * (1 + WAIT_JITTER * (2 * random.float() - 1)), signal);
    known = undefined;
  }
}
