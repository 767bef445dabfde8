import type { KubeObject } from '../../api/meta/object-meta.ts';
import { hasStatusCause, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

/**
 * The result of the probe: a collector removed it, none did, the server says that there can be none (`refused`), or the result is unknown
 * (`failed`), which says nothing about the next time.
 */
export type ProbeOutcome =
  | { readonly probe: 'collected'; readonly afterMs: number }
  | { readonly probe: 'kept'; readonly afterMs: number }
  | { readonly probe: 'refused'; readonly detail: string }
  | { readonly probe: 'failed'; readonly detail: string };

export interface CollectorProbeOptions {
  /** May write, whatever the mode. */
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Where the probe is created. */
  readonly namespace: string;
}

/** How long a collector has to find it. kube-controller-manager needs less than one, its monitors being in place. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 1000;
const TIMEOUT_MS = 5000;
/** Attempts to remove the probe again, one poll apart. */
const CLEAN_UP_ATTEMPTS = 5;

/** Codes of a creation that is not allowed or denied. A webhook that denies without a code makes it 400. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 422]);

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const;

/** One that is there, or may be. */
interface Probe {
  readonly ref: ResourceRef;
  /** Undefined while it is not known whether it was created. */
  readonly uid: string | undefined;
}

/**
 * Asks by deed whether another collector runs: an empty ConfigMap that refers to an owner which never was is garbage, and
 * whoever takes it away is a collector. It is deleted again when nobody does. Only while this process does not collect. None
 * is created while the one before could not be deleted.
 */
export class CollectorProbe {
  readonly #options: CollectorProbeOptions;
  /** Not yet deleted for certain. */
  #left: Probe | undefined;

  constructor(options: CollectorProbeOptions) {
    this.#options = options;
  }

  /** Rejects with an AbortError when aborted; the probe is taken away also then. */
  async run(signal: AbortSignal): Promise<ProbeOutcome> {
    try {
      await this.#takeAway(signal);
      return await this.#ask(signal);
    } catch (error) {
      if (signal.aborted || isAbortError(error)) throw error;
      return { probe: 'failed', detail: messageOf(error) };
    }
  }

  async #ask(signal: AbortSignal): Promise<ProbeOutcome> {
    const { client, clock, random, namespace } = this.#options;
    const suffix = random.uuid().slice(0, 8);
    const name = `kubegc-probe-${suffix}`;
    const ref: ResourceRef = { gvr: configMaps, namespace, name };
    this.#left = { ref, uid: undefined };
    try {
      const created = await client
        .create<KubeObject>({ gvr: configMaps, namespace }, probeObject(name, random.uuid()), {
          signal,
          timeoutMs: TIMEOUT_MS,
        })
        .catch((error: unknown) => {
          if (isRefusal(error, namespace)) return error;
          throw error;
        });
      if (created instanceof StatusError) {
        this.#left = undefined;
        return { probe: 'refused', detail: messageOf(created) };
      }
      const uid = created.metadata?.uid;
      this.#left = { ref, uid };
      const begun = clock.monotonic();
      while (clock.monotonic() - begun < PATIENCE_MS) {
        await sleep(clock, LOOK_EVERY_MS, signal);
        if (await this.#isGone(ref, uid, signal)) return { probe: 'collected', afterMs: clock.monotonic() - begun };
      }
      return { probe: 'kept', afterMs: clock.monotonic() - begun };
    } finally {
      await this.#cleanUp();
    }
  }

  async #isGone(ref: ResourceRef, uid: string | undefined, signal: AbortSignal): Promise<boolean> {
    try {
      const { metadata } = await this.#options.client.get<KubeObject>(ref, { signal, timeoutMs: TIMEOUT_MS });
      // Being deleted is the same: nobody else has a reason to.
      return metadata?.uid !== uid || (metadata?.deletionTimestamp ?? null) !== null;
    } catch (error) {
      if (isObjectNotFound(error, ref.name ?? '')) return true;
      throw error;
    }
  }

  /** Not bound to a signal: what was created goes, if the server answers at all. */
  async #cleanUp(): Promise<void> {
    for (let attempt = 1; attempt <= CLEAN_UP_ATTEMPTS; attempt++) {
      try {
        return await this.#takeAway();
      } catch {
        if (attempt < CLEAN_UP_ATTEMPTS) await sleep(this.#options.clock, LOOK_EVERY_MS);
      }
    }
  }

  /** Without the uid it is not known whether the creation happened; the name is ours alone. Rejects when it may still be there. */
  async #takeAway(signal?: AbortSignal): Promise<void> {
    if (this.#left === undefined) return;
    const { ref, uid } = this.#left;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    try {
      const options = { propagationPolicy: 'Background', ...preconditions } as const;
      await this.#options.client.delete(ref, options, { signal, timeoutMs: TIMEOUT_MS });
    } catch (error) {
      if (!isObjectNotFound(error, ref.name ?? '')) throw error;
    }
    this.#left = undefined;
  }
}

/** By the API server itself: what a proxy says passes. */
function isRefusal(error: unknown, namespace: string): error is StatusError {
  if (!(error instanceof StatusError) || hasStatusCause(error, 'UnexpectedServerResponse')) return false;
  return REFUSALS.has(error.code) || isObjectNotFound(error, namespace);
}

function probeObject(name: string, ownerUid: string): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/managed-by': 'kubegc', 'app.kubernetes.io/component': 'collector-probe' },
      annotations: {
        'kubegc.dev/purpose': 'whoever deletes this is a garbage collector; kubegc deletes it when nobody does',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: `${name}-owner`, uid: ownerUid }],
    },
  };
}
