import type { RateLimitingQueue } from '../../workqueue/rate-limiting-queue.ts';
import type { Graph } from '../graph/graph.ts';
import { parseWorkKey, type WorkKey } from '../queues/work-key.ts';

/** Number of keys that may wait in addition to those that were needed at the last sweep. */
const SLACK = 1000;

/**
 * Bounds the keys that wait in a queue while another process leads. They are kept for the moment of taking over (BETTER-23), but not for
 * ever: the leader does the work, and nobody here takes the keys. A sweep drops the keys whose object is gone. So between two sweeps the
 * backlog has at most twice the objects of the graph and {@link SLACK} more.
 */
export class Backlog {
  readonly #queue: RateLimitingQueue<WorkKey>;
  readonly #graph: Pick<Graph, 'find'>;
  readonly #onDropped: (key: WorkKey) => void;
  #needed = 0;

  constructor(
    queue: RateLimitingQueue<WorkKey>,
    graph: Pick<Graph, 'find'>,
    onDropped: (key: WorkKey) => void = () => undefined,
  ) {
    this.#queue = queue;
    this.#graph = graph;
    this.#onDropped = onDropped;
  }

  /** Does nothing while there is little to gain. A key that is kept keeps its place and failures. Returns how many keys were dropped. */
  sweep(): number {
    const waiting = this.#queue.len();
    // Most of the needed keys may have been processed meanwhile, while this process led.
    this.#needed = Math.min(this.#needed, waiting);
    if (waiting < 2 * this.#needed + SLACK) return 0;
    const dropped = this.#queue.dropWaiting((key) => {
      if (this.#graph.find(parseWorkKey(key).uid) >= 0) return false;
      this.#queue.forget(key);
      this.#onDropped(key);
      return true;
    });
    this.#needed = waiting - dropped;
    return dropped;
  }
}
