import type { LatestAnswer } from './facts.ts';
import type { LiveObject } from './live-object.ts';
import { type KindMapping, sameTarget, type Target } from './target.ts';

/** The result of a read of the object under decision (COL-090, rows 5 to 7). */
export type Look =
  | { readonly live: LiveObject }
  /** The object is proven gone: nothing has its name, or another object has it. */
  | { readonly gone: 'objectAbsent' | 'objectReplaced' }
  /** The read gave no answer, which proves no absence (COL-116, COL-156). */
  | 'unreadable'
  /** The object has not been read at its current coordinates. */
  | 'unread';

export function lookAt(latest: LatestAnswer, target: Target, { alsoElsewhere }: KindMapping): Look {
  if (latest.state === 'unasked' || !sameTarget(latest.target, target)) return 'unread';
  if (latest.state === 'error') return 'unreadable';
  if (latest.state === 'found' && latest.object.uid === target.uid) return { live: latest.object };
  if (alsoElsewhere === true) return 'unreadable';
  return { gone: latest.state === 'absent' ? 'objectAbsent' : 'objectReplaced' };
}
