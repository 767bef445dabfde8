import { formatUuid } from '../../base/random/uuid.ts';
import type { QueuedAs } from '../graph/effect.ts';
import type { Uid } from '../types/identity.ts';

/** The key of a uid in the attemptToDelete queue: the uid, with a mark in front when it was queued as virtual. */
export type WorkKey = string;

const VIRTUAL_MARK = '?';

export function workKey(uid: Uid, as: QueuedAs): WorkKey {
  return as === 'virtual' ? VIRTUAL_MARK + uid : uid;
}

/** The key of a uid that is given as words. */
export function workKeyOfWords(w0: number, w1: number, w2: number, w3: number, as: QueuedAs): WorkKey {
  return workKey(formatUuid(w0, w1, w2, w3), as);
}

export function isVirtualKey(key: WorkKey): boolean {
  return key.startsWith(VIRTUAL_MARK);
}

export function parseWorkKey(key: WorkKey): { readonly uid: Uid; readonly queuedAs: QueuedAs } {
  return isVirtualKey(key) ? { uid: key.slice(1), queuedAs: 'virtual' } : { uid: key, queuedAs: 'observed' };
}
