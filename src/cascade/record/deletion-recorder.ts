import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import { asError } from '../../base/errors/thrown.ts';
import type { RecordContext } from '../documents/cascade-record.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import type { RecordWriter } from './record-store.ts';

export interface DeletionRecorderOptions {
  readonly writer: RecordWriter;
  readonly clock: Clock;
  readonly context: RecordContext;
  /** Plural of a kind, as paths have it. */
  readonly resourceOf: (apiVersion: string, kind: string) => string;
  /** Objects that are not worth a record: what a controller makes again. */
  readonly ignores?: (body: KubeObject) => boolean;
  readonly onRecorded?: (id: string, objects: number) => void;
  /** A record could not be written: its objects cannot be brought back. */
  readonly onFailure?: (error: Error, objects: number) => void;
}

/** Deletions this close to each other are one cascade. */
const QUIET_MS = 5000;
/** A cascade that goes on is cut here, so that what is gone is on disk soon. */
const LONGEST_MS = 60_000;
const MOST_OBJECTS = 10_000;

/**
 * Turns deletions that anybody makes into records (CAS-066): what goes within five seconds of each other is one record, at most a minute
 * and 10,000 objects long. Records are written one after the other; what goes meanwhile waits in memory.
 */
export class DeletionRecorder {
  readonly #options: DeletionRecorderOptions;
  #batch = new Map<string, KubeObject>();
  #begun = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: DeletionRecorderOptions) {
    this.#options = options;
  }

  /** @param body the last state of the object, as its DELETED event has it */
  deleted(body: KubeObject): void {
    const uid = body.metadata?.uid;
    if (uid === undefined || this.#options.ignores?.(body) === true) return;
    const now = this.#options.clock.monotonic();
    if (this.#batch.size === 0) this.#begun = now;
    this.#batch.set(uid, body);
    this.#timer?.cancel();
    if (this.#batch.size >= MOST_OBJECTS) return this.#flush();
    const wait = Math.min(QUIET_MS, Math.max(0, this.#begun + LONGEST_MS - now));
    this.#timer = this.#options.clock.setTimer(wait, () => this.#flush());
  }

  /** Writes what is waiting. Resolves when all records are on disk. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    const bodies = [...this.#batch.values()];
    if (bodies.length === 0) return;
    this.#batch = new Map();
    this.#writing = this.#writing.then(() => this.#write(bodies));
  }

  async #write(bodies: readonly KubeObject[]): Promise<void> {
    const { writer, context, onRecorded, onFailure } = this.#options;
    const roots = rootsOf(bodies).map((body) => this.#referenceTo(body));
    try {
      // The requester is in the server's audit log only, not in a watch.
      const header = { requester: '(not known)', context, roots, policy: '(not known)' };
      const id = await writer.write(header, bodies);
      onRecorded?.(id, bodies.length);
    } catch (error) {
      onFailure?.(asError(error), bodies.length);
    }
  }

  #referenceTo({ apiVersion = '', kind = '', metadata }: KubeObject): ObjectReference {
    const { namespace, name = '', uid = '' } = metadata ?? {};
    const resource = this.#options.resourceOf(apiVersion, kind);
    return { apiVersion, kind, resource, ...(namespace === undefined ? {} : { namespace }), name, uid };
  }
}

/** Objects whose deletion no other of them explains: no owner among them, no namespace, no definition. */
export function rootsOf(bodies: readonly KubeObject[]): KubeObject[] {
  const uids = new Set(bodies.map(({ metadata }) => metadata?.uid));
  const namespaces = new Set<string | undefined>();
  const defined = new Set<string>();
  for (const { kind, apiVersion = '', metadata, ...rest } of bodies) {
    if (kind === 'Namespace' && apiVersion === 'v1') namespaces.add(metadata?.name);
    if (kind !== 'CustomResourceDefinition') continue;
    const { group, names } = (rest['spec'] ?? {}) as { group?: string; names?: { kind?: string } };
    defined.add(`${group}/${names?.kind}`);
  }
  return bodies.filter(({ apiVersion = '', kind, metadata }) => {
    if (metadata?.ownerReferences?.some(({ uid }) => uids.has(uid)) === true) return false;
    if (metadata?.namespace !== undefined && namespaces.has(metadata.namespace)) return false;
    return !defined.has(`${apiVersion.split('/')[0]}/${kind}`);
  });
}
