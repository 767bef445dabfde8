import { Lru } from '../../base/collections/lru.ts';

/** The object of an Event. Only known fields are set. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  /** Empty or absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

export type EventType = 'Normal' | 'Warning';

/** One occurrence, before correlation. */
export interface EventOccurrence {
  readonly involvedObject: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The action for an occurrence. `key` identifies the series for {@link EventCorrelator.written}. */
export type Correlation =
  | { readonly action: 'drop' }
  | {
      readonly action: 'create';
      readonly key: string;
      readonly message: string;
      readonly count: number;
      readonly firstAt: number;
    }
  | {
      readonly action: 'update';
      readonly key: string;
      readonly message: string;
      readonly count: number;
      readonly firstAt: number;
      /** The name of the Event object whose count to increase. */
      readonly name: string;
    };

export interface CorrelatorOptions {
  readonly component: string;
  /** Maximum number of different messages of one reason and object within the interval before they are combined; 10 in client-go. */
  readonly maxSimilar?: number;
  /** Milliseconds; 600,000 in client-go. */
  readonly similarIntervalMs?: number;
  /** Maximum burst of Events of one source and object; 25 in client-go. */
  readonly burst?: number;
  /** Interval after which one more is allowed; 300,000 in client-go. */
  readonly refillMs?: number;
  /** Maximum number of series; 4096 in client-go. */
  readonly cacheSize?: number;
}

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

interface Series {
  count: number;
  firstAt: number;
  name: string;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Prevents an object in trouble from flooding the server with Events (COL-145; client-go `tools/record/events_cache.go`): a repeated Event
 * increases the count of the old one, many different ones of a kind are combined, and each object has a rate limit. Times come with the
 * occurrences.
 */
export class EventCorrelator {
  readonly #component: string;
  readonly #maxSimilar: number;
  readonly #similarIntervalMs: number;
  readonly #burst: number;
  readonly #refillMs: number;
  readonly #similar: Lru<string, Similar>;
  readonly #series: Lru<string, Series>;
  readonly #buckets: Lru<string, Bucket>;

  constructor(options: CorrelatorOptions) {
    const {
      component,
      maxSimilar = 10,
      similarIntervalMs = 600_000,
      burst = 25,
      refillMs = 300_000,
      cacheSize = 4096,
    } = options;
    this.#component = component;
    this.#maxSimilar = maxSimilar;
    this.#similarIntervalMs = similarIntervalMs;
    this.#burst = burst;
    this.#refillMs = refillMs;
    this.#similar = new Lru({ capacity: cacheSize });
    this.#series = new Lru({ capacity: cacheSize });
    this.#buckets = new Lru({ capacity: cacheSize });
  }

  /** Counts the occurrence and returns its action. */
  correlate(occurrence: EventOccurrence): Correlation {
    const { key, message } = this.#aggregate(occurrence);
    const series = this.#series.get(key) ?? { count: 0, firstAt: occurrence.at, name: '' };
    series.count++;
    this.#series.set(key, series);
    if (!this.#allowed(occurrence)) return { action: 'drop' };
    const { count, firstAt, name } = series;
    return count > 1 && name !== ''
      ? { action: 'update', key, message, count, firstAt, name }
      : { action: 'create', key, message, count, firstAt };
  }

  /** Records that the Event of this series exists under this name. */
  written(key: string, name: string): void {
    const series = this.#series.get(key);
    if (series !== undefined) series.name = name;
  }

  #aggregate(occurrence: EventOccurrence): { key: string; message: string } {
    const { involvedObject, type, reason, message, at } = occurrence;
    const group = this.#keyOf(involvedObject, type, reason);
    const known = this.#similar.get(group);
    const similar =
      known !== undefined && at - known.lastAt <= this.#similarIntervalMs
        ? known
        : { messages: new Set<string>(), lastAt: at };
    similar.lastAt = at;
    similar.messages.add(message);
    this.#similar.set(group, similar);
    if (similar.messages.size < this.#maxSimilar) {
      return { key: this.#keyOf(involvedObject, type, reason, message, involvedObject.fieldPath), message };
    }
    // The limit is already exceeded, so more messages would only cost memory.
    similar.messages.delete(message);
    return { key: group, message: `(combined from similar events): ${message}` };
  }

  /** The token bucket of source and object. */
  #allowed({ involvedObject, at }: EventOccurrence): boolean {
    const key = this.#keyOf(involvedObject);
    const bucket = this.#buckets.get(key) ?? { tokens: this.#burst, at };
    bucket.tokens = Math.min(this.#burst, bucket.tokens + Math.max(0, at - bucket.at) / this.#refillMs);
    bucket.at = at;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  #keyOf(
    { apiVersion, kind, namespace, name, uid }: ObjectReference,
    ...more: readonly (string | undefined)[]
  ): string {
    return JSON.stringify([this.#component, apiVersion, kind, namespace, name, uid, ...more]);
  }
}
