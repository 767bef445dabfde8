import { objectVersion } from '../codec/object-version.ts';
import type { ReflectorStep } from './reflector-plan.ts';

/** The progress of one watch request. */
export class WatchProgress {
  initial: 'complete' | 'incomplete';
  resourceVersion: string;
  /** At least one event came. */
  delivered = false;
  /** The server accepted the request. */
  opened = false;
  /** The last object of the current chunk, in place; it stays valid until the next push (OnWatchEvent). */
  #last: Uint8Array | undefined;
  #start = 0;
  #end = 0;

  constructor(step: ReflectorStep & { verb: 'watch' | 'watchList' }) {
    this.initial = step.verb === 'watch' ? 'complete' : 'incomplete';
    this.resourceVersion = step.verb === 'watch' ? step.resourceVersion : '';
  }

  sawObject(bytes: Uint8Array, start: number, end: number): void {
    this.delivered = true;
    this.#last = bytes;
    this.#start = start;
    this.#end = end;
  }

  sawBookmark(resourceVersion: string): void {
    this.delivered = true;
    this.#last = undefined;
    this.resourceVersion = resourceVersion;
  }

  /** Events come in order of their resource versions, so the last version stands for the whole chunk. */
  endChunk(): void {
    if (this.#last === undefined) return;
    // Initial events come in no order of versions; the bookmark after them has the version to continue from.
    if (this.initial === 'complete') {
      this.resourceVersion = objectVersion(this.#last, this.#start, this.#end).resourceVersion;
    }
    this.#last = undefined;
  }
}
