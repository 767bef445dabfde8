import { WatchFrameReader } from '../../src/api/codec/watch-frame.ts';
import { MetadataReader } from '../../src/api/codec/metadata-reader.ts';
import { systemClock } from '../../src/base/clock.ts';
import { AbsentOwnerCache } from '../../src/collector/graph/absent-owner-cache.ts';
import { apply } from '../../src/collector/graph/apply.ts';
import type { Effect } from '../../src/collector/graph/effect.ts';
import { OwnershipGraph } from '../../src/collector/graph/ownership-graph.ts';
import { workKey } from '../../src/collector/graph/work-key.ts';
import { Queue } from '../../src/workqueue/queue.ts';
import type { ObjectMeta } from '../../src/api/meta/object-meta.ts';
import { NaiveGraph } from './naive-graph.ts';
import { kindOf, resources, type Chunk } from './trees.ts';

/** What reads a watch. */
export interface Stream {
  consume(chunk: Chunk): void;
}

/** Bytes of the watch to the graph and the queue, as the collector does it. */
export class ProductStream implements Stream {
  readonly graph = new OwnershipGraph({ hashSeed: 0x5eed, absentOwners: new AbsentOwnerCache() });
  readonly queue = new Queue<string>({ name: 'bench', clock: systemClock });
  readonly #frames = new WatchFrameReader();
  readonly #metadata = new MetadataReader();
  readonly #effects: Effect[] = [];
  readonly #queues: boolean;
  /** One event object a resource, as a monitor has it. */
  readonly #observed = resources.map(
    (resource) => ({ type: 'observedColumns', resource, columns: this.#metadata }) as const,
  );
  readonly #deleted = resources.map(
    (resource) => ({ type: 'deletedColumns', resource, columns: this.#metadata }) as const,
  );

  /** `queues`: keys are queued; otherwise effects are dropped. */
  constructor({ queues = true }: { readonly queues?: boolean } = {}) {
    this.#queues = queues;
  }

  consume({ bytes, objects }: Chunk): void {
    const reader = this.#frames;
    const columns = this.#metadata;
    const effects = this.#effects;
    reader.push(bytes);
    for (let i = 0; reader.next(); i++) {
      columns.scan(reader.bytes, reader.start, reader.end);
      const kind = kindOf(objects[i]!);
      apply(this.graph, reader.type === 'DELETED' ? this.#deleted[kind]! : this.#observed[kind]!, effects);
      if (effects.length === 0) continue;
      if (this.#queues) {
        for (const effect of effects) if (effect.effect === 'enqueue') this.queue.add(workKey(effect.uid, effect.as));
      }
      effects.length = 0;
    }
  }
}

/** What most would write: lines, JSON.parse, objects in maps. */
export class BaselineStream implements Stream {
  readonly graph = new NaiveGraph();

  consume({ bytes, objects }: Chunk): void {
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const end = bytes.indexOf(10, at);
      const { type, object } = JSON.parse(bytes.toString('utf8', at, end)) as Line;
      if (type === 'DELETED') this.graph.remove(object.metadata.uid ?? '');
      else this.graph.observe(resources[kindOf(objects[i]!)]!.kind, object.metadata);
      at = end + 1;
    }
  }
}

interface Line {
  readonly type: string;
  readonly object: { readonly metadata: ObjectMeta };
}
