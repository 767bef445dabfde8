import type { KubeObject } from '../../api/meta/object-meta.ts';
import { hasStatusCause, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

/**
 * The result of the probe: a collector removed it, none did, the server proves that there can be no probe (`refused`), or the result is
 * unknown (`failed`), which says nothing about the next attempt.
 */
export type ProbeOutcome =
  | { readonly probe: 'collected'; readonly afterMs: number }
  | { readonly probe: 'kept'; readonly afterMs: number }
  | { readonly probe: 'refused'; readonly detail: string }
  | { readonly probe: 'failed'; readonly detail: string };

interface CollectorProbeOptions {
  /** A client that may write in any mode. */
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  /** The namespace of the probe. */
  readonly namespace: string;
}

/** Time that a collector has to find the probe. kube-controller-manager needs less than a second once its monitors run. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 1000;
const TIMEOUT_MS = 5000;
/** Attempts to remove the probe, one poll apart. */
const CLEAN_UP_ATTEMPTS = 5;

/** Statuses of a creation that is forbidden or denied. A webhook that denies without a code makes it 400. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 405, 422]);

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const;

/** A probe that exists, or may exist. */
interface Probe {
  readonly ref: ResourceRef;
  /** Undefined while it is unknown whether it was created. */
  readonly uid: string | undefined;
}

/**
 * Proves by experiment whether another collector runs: an empty ConfigMap with an owner that never existed is garbage, and only a collector
 * deletes it. Otherwise this class deletes it. It is used only while this process does not collect, and no probe is created while the
 * previous one still exists.
 */
export class CollectorProbe {
  readonly #options: CollectorProbeOptions;
  /** A probe that may still exist. */
  #left: Probe | undefined;

  constructor(options: CollectorProbeOptions) {
    this.#options = options;
  }

  /** Rejects with an AbortError if aborted; the probe is removed in that case too. */
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
      // Being deleted counts as well, because nobody else has a reason to delete it.
      return metadata?.uid !== uid || (metadata?.deletionTimestamp ?? null) !== null;
    } catch (error) {
      if (isObjectNotFound(error, ref.name ?? '')) return true;
      throw error;
    }
  }

  /** Not bound to a signal: the created probe is removed if the server answers at all. */
  async #cleanUp(): Promise<void> {
    for (let attempt = 1; attempt <= CLEAN_UP_ATTEMPTS; attempt++) {
      try {
        return await this.#takeAway();
      } catch {
        if (attempt < CLEAN_UP_ATTEMPTS) await sleep(this.#options.clock, LOOK_EVERY_MS);
      }
    }
  }

  /** Without the uid it is unknown whether it was created; the name is unique to this process. Rejects if it may still exist. */
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

/** True for a refusal by the API server itself; an error of a proxy is temporary. */
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
