import type { LatestAnswer } from './facts.ts';
import type { LiveObject } from './live-object.ts';
import { type KindMapping, sameTarget, type Target } from './target.ts';

/** The result of a read of the object under decision (COL-090, rows 5 to 7). */
export type Look =
  | { readonly live: LiveObject }
  /** Proven: nothing has its name, or another object. */
  | { readonly gone: 'objectAbsent' | 'objectReplaced' }
  /** Nothing: that proves no absence either (COL-116, COL-156). */
  | 'unreadable'
  /** Nobody has asked yet, or not where the object is by now: the answer is about other coordinates. */
  | 'unread';

export function lookAt(latest: LatestAnswer, target: Target, { alsoElsewhere }: KindMapping): Look {
  if (latest.state === 'unasked' || !sameTarget(latest.target, target)) return 'unread';
  if (latest.state === 'error') return 'unreadable';
  if (latest.state === 'found' && latest.object.uid === target.uid) return { live: latest.object };
  if (alsoElsewhere === true) return 'unreadable';
  return { gone: latest.state === 'absent' ? 'objectAbsent' : 'objectReplaced' };
}
