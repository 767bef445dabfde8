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
  /** The plural of a kind for paths. */
  readonly resourceOf: (apiVersion: string, kind: string) => string;
  /** True for objects without a need for a record, because a controller creates them again. */
  readonly ignores?: (body: KubeObject) => boolean;
  readonly onRecorded?: (id: string, bodies: readonly KubeObject[]) => void;
  /**
   * Called if a record could not be written. `kept`: the objects stay in memory, and the next record has them. `lost`: they cannot be
   * restored, because the recorder is closing or keeps too many already.
   */
  readonly onFailure?: (error: Error, bodies: readonly KubeObject[], fate: 'kept' | 'lost') => void;
}

/** The DELETE of an object, where the recorder knows it. */
export interface DeletionRequest {
  /** User name as the server knows it. */
  readonly requester: string;
  /** Absent if the request names none. */
  readonly policy?: string;
}

interface Deletion {
  readonly body: KubeObject;
  readonly request: DeletionRequest | undefined;
}

/** A fact of a deletion that the recorder does not have: a watch shows neither the user nor the policy. */
const NOT_KNOWN = '(not known)';

/** Maximum gap between deletions of one cascade. */
const QUIET_MS = 5000;
/** Maximum duration of one record of a long cascade, so that deleted objects are on disk soon. */
const LONGEST_MS = 60_000;
const MOST_OBJECTS = 10_000;
/** Delay before a record that could not be written is tried again. */
const RETRY_MS = 10_000;
/** Maximum number of objects that wait for a disk that takes none. */
const MOST_KEPT = 50_000;

/**
 * Records deletions by any client (CAS-066). Deletions within five seconds of each other form one record, of at most a minute and 10,000
 * objects. Records are written one after the other; later deletions wait in memory. Objects whose record fails wait too, within a bound,
 * and are tried again.
 */
export class DeletionRecorder {
  readonly #options: DeletionRecorderOptions;
  /** The deletions that wait, by uid. */
  #batch = new Map<string, Deletion>();
  #begun = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** `failing` after a record that could not be written: until the next try, nothing but the timer writes. */
  #state: 'writes' | 'failing' | 'closing' = 'writes';

  constructor(options: DeletionRecorderOptions) {
    this.#options = options;
  }

  /**
   * @param body the last state of the object, from its DELETED event
   * @param request absent where it is not known
   */
  deleted(body: KubeObject, request?: DeletionRequest): void {
    const uid = body.metadata?.uid;
    if (uid === undefined || this.#options.ignores?.(body) === true) return;
    const now = this.#options.clock.monotonic();
    if (this.#batch.size === 0) this.#begun = now;
    this.#batch.set(uid, { body, request });
    if (this.#state === 'failing') return;
    this.#timer?.cancel();
    if (this.#batch.size >= MOST_OBJECTS) return this.#flush();
    const wait = Math.min(QUIET_MS, Math.max(0, this.#begun + LONGEST_MS - now));
    this.#timer = this.#options.clock.setTimer(wait, () => this.#flush());
  }

  /** Writes all waiting deletions. Resolves when all records are on disk. */
  async close(): Promise<void> {
    await this.#writing;
    this.#state = 'closing';
    this.#timer?.cancel();
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    const batch = this.#batch;
    if (batch.size === 0) return;
    this.#batch = new Map();
    if (this.#state === 'failing') this.#state = 'writes';
    this.#writing = this.#writing.then(() => this.#write(batch));
  }

  async #write(batch: ReadonlyMap<string, Deletion>): Promise<void> {
    const { writer, context, onRecorded, onFailure } = this.#options;
    const bodies = [...batch.values()].map(({ body }) => body);
    const roots = rootsOf(bodies).map((body) => this.#referenceTo(body));
    const request = combined(roots.map(({ uid }) => batch.get(uid)?.request));
    try {
      const id = await writer.write({ ...request, context, roots }, bodies);
      onRecorded?.(id, bodies);
    } catch (error) {
      const fate = this.#keep(batch);
      onFailure?.(asError(error), bodies, fate);
    }
  }

  /** Puts objects back in front of later ones, for the next try. */
  #keep(batch: ReadonlyMap<string, Deletion>): 'kept' | 'lost' {
    if (this.#state === 'closing' || batch.size + this.#batch.size > MOST_KEPT) return 'lost';
    this.#batch = new Map([...batch, ...this.#batch]);
    this.#state = 'failing';
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(RETRY_MS, () => this.#flush());
    return 'kept';
  }

  #referenceTo({ apiVersion = '', kind = '', metadata }: KubeObject): ObjectReference {
    const { namespace, name = '', uid = '' } = metadata ?? {};
    const resource = this.#options.resourceOf(apiVersion, kind);
    return { apiVersion, kind, resource, ...(namespace === undefined ? {} : { namespace }), name, uid };
  }
}

/** The user and policy of several deletions; all users are named. */
function combined(requests: readonly (DeletionRequest | undefined)[]): Required<DeletionRequest> {
  const requesters = new Set(requests.map((request) => request?.requester ?? NOT_KNOWN));
  const policies = new Set(requests.map((request) => request?.policy ?? NOT_KNOWN));
  // Users that are known come first, because readers take a text that begins with a bracket for none.
  const named = [...requesters].toSorted((a, b) => Number(a === NOT_KNOWN) - Number(b === NOT_KNOWN));
  return { requester: named.join(', ') || NOT_KNOWN, policy: policies.size === 1 ? [...policies][0]! : 'mixed' };
}

/** Objects whose deletion none of the others explains: their owner, namespace and definition are not among these. */
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
