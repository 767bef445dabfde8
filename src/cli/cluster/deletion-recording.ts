import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Revision, Store, StoreEvent, StoreWatch } from '../../apiserver/storage/interface.ts';
import { RevisionCompactedError, RevisionFutureError } from '../../apiserver/storage/interface.ts';
import { REGISTRY_ROOT } from '../../apiserver/storage/storage-keys.ts';
import { StoredObject } from '../../apiserver/storage/stored-object.ts';
import { asError, messageOf } from '../../base/errors/thrown.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import type { RecordContext } from '../../cascade/documents/cascade-record.ts';
import { DeletionRecorder, type DeletionRequest } from '../../cascade/record/deletion-recorder.ts';
import { RecordStore } from '../../cascade/record/record-store.ts';
import { isTransient } from '../../cascade/record/transient-kinds.ts';
import { isRebuiltByController } from '../../cascade/undo/rebuilt-by-controller.ts';

export interface DeletionRecordingOptions {
  readonly store: Store;
  /** See `RecordStore`. */
  readonly folder: string;
  readonly secrets: 'encrypted' | 'omitted';
  readonly context: RecordContext;
  /** The request that deleted an object; called once, when the object is gone. */
  readonly requestOf: (uid: string) => DeletionRequest | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The file in the folder of records that says up to which revision of the store every deletion is recorded. */
const MARK = 'recorded-until';
/** Interval between writes of the mark. The store keeps five minutes of history, so nothing is missed after a crash. */
const MARK_PERIOD_MS = 60_000;
const RETRY_MS = 1000;

interface Mark {
  /** A store that was emptied begins with revision 1 again. */
  readonly clusterUid: string | undefined;
  readonly revision: Revision;
}

/**
 * Records deletions by any client in the store of this process, as `kubegc record` does beside a cluster (CAS-066). One watch of the
 * store sees all kinds, with the last state of each object, and keeps nothing in memory. Every deletion up to the revision in the file
 * {@link MARK} is recorded: after a crash the watch resumes there.
 */
export class DeletionRecording {
  readonly #options: DeletionRecordingOptions;
  readonly #logger: Logger;
  readonly #recorder: DeletionRecorder;
  /** Plurals of the kinds that were deleted, by apiVersion and kind. */
  readonly #plurals = new Map<string, string>();
  /** Revisions of the deletions that are not recorded yet, by uid, in order. */
  readonly #waiting = new Map<string, Revision>();
  #seen: Revision = 0;
  #marked: Revision = -1;
  #watch: StoreWatch | undefined;
  #timer: Timer | undefined;
  #marking: Promise<void> = Promise.resolve();
  #state: 'running' | 'stopped' = 'running';

  private constructor(options: DeletionRecordingOptions) {
    const { folder, clock, random, secrets, context, logger } = options;
    this.#options = options;
    this.#logger = logger;
    const records = new RecordStore({ folder, clock, random, secrets });
    this.#recorder = new DeletionRecorder({
      writer: records,
      clock,
      context,
      resourceOf: (apiVersion, kind) => this.#plurals.get(`${apiVersion} ${kind}`) ?? '',
      onRecorded: (record, bodies) => {
        const undo = `kubectl cascade undo ${record} --record-dir ${folder}`;
        this.#logger.info('recorded a deletion', { record, objects: bodies.length, undo });
        for (const { metadata } of bodies) this.#waiting.delete(metadata!.uid!);
        this.#mark();
        records.expire().catch((error: unknown) => {
          this.#logger.warn('old records could not be removed', { error: messageOf(error) });
        });
      },
      onFailure: ({ message }, bodies, fate) => {
        const text = fate === 'kept' ? 'deletion not recorded, will retry' : 'deletion not recorded';
        this.#logger.error(text, { objects: bodies.length, error: message });
      },
    });
  }

  /** Resolves when every later deletion will be recorded. Rejects if the store cannot be watched. */
  static async start(options: DeletionRecordingOptions): Promise<DeletionRecording> {
    const recording = new DeletionRecording(options);
    await recording.#begin();
    return recording;
  }

  /** Resolves when everything that was seen is on disk. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#watch?.cancel();
    this.#timer?.cancel();
    await this.#recorder.close();
    this.#mark();
    await this.#marking;
  }

  async #begin(): Promise<void> {
    const current = await this.#options.store.currentRevision();
    const mark = await this.#readMark();
    this.#seen = mark ?? current;
    if (this.#seen > current) this.#missed(current);
    await this.#follow();
    // From the first moment on, a crash leaves a mark to resume at.
    this.#mark();
    await this.#marking;
    this.#tick();
  }

  async #follow(): Promise<void> {
    const { store } = this.#options;
    try {
      await this.#watchFrom(this.#seen + 1);
    } catch (error) {
      if (!(error instanceof RevisionCompactedError || error instanceof RevisionFutureError)) throw error;
      this.#missed(await store.currentRevision());
      await this.#watchFrom(this.#seen + 1);
    }
  }

  async #watchFrom(startRevision: Revision): Promise<void> {
    const watch = await this.#options.store.watch(REGISTRY_ROOT, {
      startRevision,
      onEvents: (events) => this.#observe(events),
      onProgress: (revision) => (this.#seen = Math.max(this.#seen, revision)),
      onClose: (error) => {
        if (error !== undefined) this.#resume(error);
      },
    });
    if (this.#state === 'stopped') watch.cancel();
    else this.#watch = watch;
  }

  #resume(cause: Error): void {
    if (this.#state === 'stopped') return;
    this.#logger.warn('the watch for deletions has ended, will resume', { error: cause.message });
    this.#options.clock.setTimer(RETRY_MS, () => {
      if (this.#state === 'stopped') return;
      this.#follow().catch((error: unknown) => this.#resume(asError(error)));
    });
  }

  #missed(current: Revision): void {
    this.#logger.error('history is too short: deletions between these revisions are not recorded', {
      after: this.#seen,
      until: current,
    });
    this.#seen = current;
  }

  #observe(events: readonly StoreEvent[]): void {
    for (const { type, key, previous, revision } of events) {
      this.#seen = revision;
      if (type !== 'DELETE' || previous === undefined) continue;
      const [group = '', resource = ''] = key.slice(REGISTRY_ROOT.length).split('/', 2);
      if (isTransient({ group: group === 'core' ? '' : group, resource })) continue;
      const body = new StoredObject(previous).object();
      const uid = body.metadata?.uid;
      if (uid === undefined) continue;
      const request = this.#options.requestOf(uid);
      if (isRebuiltByController(body)) continue;
      this.#plurals.set(`${body.apiVersion} ${body.kind}`, resource);
      this.#waiting.set(uid, revision);
      this.#recorder.deleted(body, request);
    }
  }

  #tick(): void {
    this.#timer = this.#options.clock.setTimer(MARK_PERIOD_MS, () => {
      this.#mark();
      this.#tick();
    });
  }

  /** Writes the revision below the oldest deletion that is not recorded yet. */
  #mark(): void {
    const [oldest] = this.#waiting.values();
    const revision = oldest === undefined ? this.#seen : oldest - 1;
    if (revision <= this.#marked) return;
    this.#marked = revision;
    this.#marking = this.#marking.then(() => this.#writeMark(revision));
  }

  async #writeMark(revision: Revision): Promise<void> {
    const { folder, context } = this.#options;
    const mark: Mark = { clusterUid: context.clusterUid, revision };
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomically(join(folder, MARK), `${JSON.stringify(mark)}\n`, 0o600);
    } catch (error) {
      this.#logger.warn('the mark of recorded deletions could not be written', { error: messageOf(error) });
    }
  }

  /** Undefined for a new folder, for one of another cluster, and for a file that somebody damaged. */
  async #readMark(): Promise<Revision | undefined> {
    const { folder, context } = this.#options;
    try {
      const { clusterUid, revision } = JSON.parse(await readFile(join(folder, MARK), 'utf8')) as Partial<Mark>;
      return clusterUid === context.clusterUid && Number.isSafeInteger(revision) ? revision : undefined;
    } catch {
      return undefined;
    }
  }
}
