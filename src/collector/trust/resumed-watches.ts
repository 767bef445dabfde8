import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';

/** The shortest time between two requests for the version, ms. */
const APART_MS = 10_000;

/** A watch that the server answered after a failure, and that has shown nothing since. */
interface ResumedWatch {
  readonly offered: OfferedResource;
  /** The version from which the watch continues. */
  readonly version: number;
  /** Called when the server is at a lower version. */
  readonly onOlder: () => void;
}

interface ResumedWatchesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Reads the server's current version of this resource. */
  readonly ask: (offered: OfferedResource, signal: AbortSignal) => Promise<number>;
}

/**
 * Checks whether a server that was away has gone back in time (designs/0011). Such a server accepts a watch from a version that it has not
 * reached yet, and sends nothing until then, so the watch itself does not show the restore.
 * One check serves all resumed watches: it uses the watch with the highest version, because most resources share one storage. The
 * answer is compared only with a watch of the same resource, because some resources may have a storage of their own (designs/0025). One check
 * runs at a time, at most every 10 s, while a resumed watch has shown nothing. Without a failure there is no check.
 */
export class ResumedWatches {
  readonly #options: ResumedWatchesOptions;
  readonly #stopping = new AbortController();
  /** By resource. At most one for each monitor. */
  readonly #waiting = new Map<string, ResumedWatch>();
  #timer: Timer | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #question: Promise<void> | undefined;

  constructor(options: ResumedWatchesOptions) {
    this.#options = options;
  }

  add(watch: ResumedWatch): void {
    if (this.#stopping.signal.aborted || Number.isNaN(watch.version)) return;
    this.#waiting.set(resourceKey(watch.offered), watch);
    this.#arm();
  }

  /** The watch of this resource has shown something, has failed again, or is over. */
  forget(offered: OfferedResource): void {
    this.#waiting.delete(resourceKey(offered));
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.clear();
    this.#timer?.cancel();
    await this.#question;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#question !== undefined || this.#waiting.size === 0) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(Math.max(0, this.#askedAt + APART_MS - clock.monotonic()), () => {
      this.#timer = undefined;
      this.#askedAt = clock.monotonic();
      this.#question = this.#ask().finally(() => {
        this.#question = undefined;
        this.#arm();
      });
    });
  }

  async #ask(): Promise<void> {
    const { ask, logger } = this.#options;
    const waiting = [...this.#waiting.values()];
    const newest = waiting.reduce((a, b) => (b.version > a.version ? b : a));
    try {
      const version = await ask(newest.offered, this.#stopping.signal);
      const isLeft = (watch: ResumedWatch): boolean => this.#waiting.get(resourceKey(watch.offered)) === watch;
      const older = isLeft(newest) && version < newest.version;
      // The newest one may be over. Then a watch above the answer is asked about by itself: its versions may be of another storage.
      const isSettled = (watch: ResumedWatch): boolean => older || !(version < watch.version);
      for (const watch of waiting) if (isLeft(watch) && isSettled(watch)) this.forget(watch.offered);
      if (older) newest.onOlder();
    } catch (error) {
      logger.debug('the version of the server could not be read', { error: messageOf(error) });
    }
  }
}
