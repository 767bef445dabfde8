import type { QueuedAs } from './effect.ts';
import type { Uid } from './identity.ts';

/** The key of a uid in the attemptToDelete queue: the uid, with a mark in front when it was queued as virtual. */
export type WorkKey = string;

const VIRTUAL_MARK = '?';

export function workKey(uid: Uid, as: QueuedAs): WorkKey {
  return as === 'virtual' ? VIRTUAL_MARK + uid : uid;
}

export function parseWorkKey(key: WorkKey): { readonly uid: Uid; readonly queuedAs: QueuedAs } {
  return key.startsWith(VIRTUAL_MARK) ? { uid: key.slice(1), queuedAs: 'virtual' } : { uid: key, queuedAs: 'observed' };
}
