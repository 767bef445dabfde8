import { RateLimitingQueue, type RateLimitingQueueOptions } from '../../workqueue/rate-limiting-queue.ts';
import type { WorkKey } from './work-key.ts';
import { type QueuedUid, type UidWords, WorkKeyTable } from './work-key-table.ts';

export interface WorkQueueOptions extends Omit<RateLimitingQueueOptions<WorkKey>, 'keys'> {
  /** Any 32-bit number; a secret one keeps others from choosing uids that collide. */
  readonly hashSeed?: number;
}

/** A queue of uids to look at. One that an effect names is added without making its key, which is a string: `addUid`. */
export class WorkQueue extends RateLimitingQueue<WorkKey> {
  readonly #table: WorkKeyTable;

  constructor({ hashSeed = 0, ...options }: WorkQueueOptions) {
    const table = new WorkKeyTable(hashSeed);
    super({ ...options, keys: table });
    this.#table = table;
  }

  /** `add(workKey(uid, as))`. */
  addUid(uid: QueuedUid): void {
    if (this.shuttingDown) return;
    const before = this.#table.size;
    const handle = this.#table.acquireUid(uid);
    this.admit(handle, this.#table.size > before ? 'new' : 'known');
  }

  /** `wake` of both keys of a uid of which none is delayed, as every event of a cascade asks for it: no key is made. */
  wakeInWork(uid: UidWords): void {
    if (this.processing === 0) return;
    this.noteWakeUpOf(this.#table.findWords(uid, 'observed'));
    this.noteWakeUpOf(this.#table.findWords(uid, 'virtual'));
  }
}
