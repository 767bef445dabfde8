import type { Queue } from '../../workqueue/queue.ts';
import type { Graph } from '../graph/graph.ts';
import { parseWorkKey, type WorkKey } from '../graph/work-key.ts';

/** Keys that may pile up beside those that were needed at the last sweep. */
const SLACK = 1000;

/**
 * What waits in a queue while somebody else leads: kept for the moment of taking over (BETTER-23), but not for ever, because
 * the leader does the work and nobody here takes the keys. A sweep drops those whose object is gone, so that the backlog has
 * at most twice the objects of the graph and {@link SLACK} more between two sweeps.
 */
export class Backlog {
  readonly #queue: Queue<WorkKey>;
  readonly #graph: Pick<Graph, 'find'>;
  readonly #onDropped: (key: WorkKey) => void;
  #needed = 0;

  constructor(queue: Queue<WorkKey>, graph: Pick<Graph, 'find'>, onDropped: (key: WorkKey) => void = () => undefined) {
    this.#queue = queue;
    this.#graph = graph;
    this.#onDropped = onDropped;
  }

  /** Nothing while there is little to gain. Answers how many keys were dropped. */
  sweep(): number {
    const waiting = this.#queue.len();
    if (waiting < 2 * this.#needed + SLACK) return 0;
    let dropped = 0;
    for (let left = waiting; left > 0; left--) {
      const next = this.#queue.tryGet();
      if (next === undefined || next.shutdown) break;
      this.#queue.done(next.item);
      if (this.#graph.find(parseWorkKey(next.item).uid) >= 0) this.#queue.add(next.item);
      else {
        dropped++;
        this.#onDropped(next.item);
      }
    }
    this.#needed = waiting - dropped;
    return dropped;
  }
}
