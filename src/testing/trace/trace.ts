import { inspect } from 'node:util';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** An object as the trace names it. */
export interface TracedObject {
  /** Group and version: `apps/v1`, or `v1` alone for the core group. */
  readonly apiVersion: string;
  /** The kind, in the singular: `Deployment`. */
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** Its name. */
  readonly name: string;
  /** Empty if the request found no object. */
  readonly uid: string;
}

/**
 * `write`: the store changed. `decision`: the collector examined an object and left it unchanged. `refused`: the API server refused a
 * request. `warning`: it accepted a request with a warning, such as about a field that it dropped. `fault`: a rule of `cluster.faults`
 * applied. `trouble`: a part logged a warning or an error.
 */
export type TraceKind = 'write' | 'decision' | 'refused' | 'warning' | 'fault' | 'trouble';

/** One thing that happened. */
export interface TraceEntry {
  /** The sort of the event. */
  readonly kind: TraceKind;
  /** Milliseconds since the cluster was started, on its own clock. */
  readonly atMs: number;
  /** A controller by name, `test` for `cluster.client`, or the first word of a user agent (`kubectl`). */
  readonly who: string;
  /** Absent if the event is about no single object. */
  readonly object?: TracedObject;
  /** The event, in a few words: `created`, `is being deleted (waits for finalizer example.com/x)`, … */
  readonly what: string;
  /** The reason: the collector's sentence, or the server's answer. */
  readonly why?: string;
  /** The revision of the store after a write. */
  readonly revision?: number;
  /** The object after a write; undefined when it is gone. Never change it. */
  readonly after?: KubeObject;
}

/** The object that {@link Trace.about} searches for: by name, or an object from an answer of the server, which has a uid. */
export type TraceSubject =
  | {
      readonly apiVersion?: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
      readonly uid?: string;
    }
  | {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
    };

type Named = Partial<Pick<TracedObject, 'name' | 'namespace' | 'uid'>>;

/** The events since the objects of the test existed, in order. Prints as one line an event. */
export class Trace {
  /** In the order in which they happened. */
  readonly entries: readonly TraceEntry[];
  /** Entries that were dropped because the trace was full; the oldest go first. */
  readonly dropped: number;

  constructor(entries: readonly TraceEntry[], dropped = 0) {
    this.entries = entries;
    this.dropped = dropped;
  }

  /** Only the entries about this object, in any namespace unless it names one. Throws a TypeError for a value without kind and name. */
  about(subject: TraceSubject): Trace {
    const { kind } = subject;
    const { name, namespace, uid } = 'metadata' in subject ? (subject.metadata ?? {}) : (subject as Named);
    if (kind === undefined || name === undefined) {
      throw new TypeError(`an object needs kind and name to be found in the trace, not ${JSON.stringify(subject)}`);
    }
    const entries = this.entries.filter(({ object: candidate }) => {
      if (!candidate || candidate.kind !== kind || candidate.name !== name) return false;
      if (uid !== undefined && candidate.uid !== '' && candidate.uid !== uid) return false;
      return namespace === undefined || candidate.namespace === '' || candidate.namespace === namespace;
    });
    return new Trace(entries);
  }

  /** The last entries. */
  last(count: number): Trace {
    return new Trace(this.entries.slice(-count), this.dropped + Math.max(0, this.entries.length - count));
  }

  /** One line for each entry: its time, the client, the action, and the reason. */
  toString(): string {
    const width = Math.max(0, ...this.entries.map(({ who }) => who.length));
    const lines = this.entries.map((entry) => formatEntry(entry, width));
    return [...(this.dropped > 0 ? [`… ${this.dropped} earlier entries`] : []), ...lines].join('\n');
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

function nameOf({ kind, namespace, name }: Pick<TracedObject, 'kind' | 'namespace' | 'name'>): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function formatEntry({ kind, atMs, who, object, what, why }: TraceEntry, width: number): string {
  const label = kind === 'write' ? '' : `${kind}: `;
  const subject = object ? `${nameOf(object)} ` : '';
  return `${`+${Math.round(atMs)}ms`.padStart(8)}  ${who.padEnd(width)}  ${subject}${label}${what}${why === undefined ? '' : ` | ${why}`}`;
}
