import { RateLimitingQueue, type RateLimitingQueueOptions } from '../../workqueue/rate-limiting-queue.ts';
import type { WorkKey } from './work-key.ts';
import { type QueuedUid, type UidWords, WorkKeyTable } from './work-key-table.ts';

interface WorkQueueOptions extends Omit<RateLimitingQueueOptions<WorkKey>, 'keys'> {
  /** Any 32-bit number. If it is secret, nobody can choose uids that collide. */
  readonly hashSeed?: number;
}

/** A queue of uids to work on. `addUid` adds the uid of an effect without making its key, which is a string. */
export class WorkQueue extends RateLimitingQueue<WorkKey> {
  readonly #table: WorkKeyTable;

  constructor({ hashSeed = 0, ...options }: WorkQueueOptions) {
    const table = new WorkKeyTable(hashSeed);
    super({ ...options, keys: table });
    this.#table = table;
  }

  /** Does `add(workKey(uid, as))` without making the key. */
  addUid(uid: QueuedUid): void {
    if (this.shuttingDown) return;
    const before = this.#table.size;
    const handle = this.#table.acquireUid(uid);
    this.admit(handle, this.#table.size > before ? 'new' : 'known');
  }

  /** Does `wake` for both keys of a uid, when neither is delayed. Each event of a cascade calls it, so it makes no key. */
  wakeInWork(uid: UidWords): void {
    if (this.processing === 0) return;
    this.noteWakeUpOf(this.#table.findWords(uid, 'observed'));
    this.noteWakeUpOf(this.#table.findWords(uid, 'virtual'));
  }
}
