import { systemClock } from '../../src/base/time/clock.ts';
import { watchDecoder } from '../../src/client/codec/watch-decoder.ts';
import { AbsentOwnerCache } from '../../src/collector/caches/absent-owner-cache.ts';
import { apply } from '../../src/collector/graph/apply.ts';
import type { Effect } from '../../src/collector/graph/effect.ts';
import type { ObjectColumns } from '../../src/collector/types/object-columns.ts';
import { OwnershipGraph } from '../../src/collector/graph/ownership-graph.ts';
import { ObjectReader } from '../../src/collector/monitors/object-reader.ts';
import { WorkQueue } from '../../src/collector/queues/work-queue.ts';
import type { ObjectMeta } from '../../src/api/meta/object-meta.ts';
import { NaiveGraph } from './naive-graph.ts';
import { kindOf, resources, type Chunk } from './trees.ts';

/** A reader of a watch. */
export interface Stream {
  consume(chunk: Chunk): void;
}

/** Bytes of the watch to the graph and the queue, as the collector does it. */
export class ProductStream implements Stream {
  readonly graph = new OwnershipGraph({ hashSeed: 0x5eed, absentOwners: new AbsentOwnerCache() });
  readonly queue = new WorkQueue({ name: 'bench', clock: systemClock, hashSeed: 0x5eed });
  readonly #objectReader = new ObjectReader(this.graph);
  readonly #decoder = watchDecoder(
    'application/vnd.kubernetes.protobuf;stream=watch',
    (type, { bytes, start, end }) => this.#event(type === 'DELETED', this.#objectReader.read(bytes, start, end)),
    (bytes, ranges, count) => this.#objectReader.ahead(bytes, ranges, count),
  );
  #objects: Int32Array = new Int32Array();
  #at = 0;
  readonly #effects: Effect[] = [];
  readonly #queues: boolean;
  /** `queues`: keys are queued; otherwise effects are dropped. */
  constructor({ queues = true }: { readonly queues?: boolean } = {}) {
    this.#queues = queues;
  }

  consume({ bytes, objects }: Chunk): void {
    this.#objects = objects;
    this.#at = 0;
    this.#decoder.push(bytes);
  }

  #event(deleted: boolean, columns: ObjectColumns): void {
    const kind = kindOf(this.#objects[this.#at++]!);
    const resource = resources[kind]!;
    const effects = this.#effects;
    apply(this.graph, { type: deleted ? 'deletedColumns' : 'observedColumns', resource, columns }, effects);
    if (effects.length === 0) return;
    if (this.#queues) {
      for (const effect of effects) if (effect.effect === 'enqueue') this.queue.addUid(effect);
    }
    effects.length = 0;
  }
}

/** The usual program: lines, JSON.parse, objects in maps. */
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
