import type { KubeObject } from '../api/meta/object-meta.ts';
import { isObjectNotFound } from '../api/status-error.ts';
import { isAbortError } from '../base/abort-error.ts';
import { type Clock, sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { messageOf } from '../base/thrown.ts';
import type { ResourceRef } from '../client/resource-path.ts';
import type { RestClient } from '../client/rest-client.ts';

/** What became of the probe: somebody collected it, nobody did, or it could not be told. */
export type ProbeOutcome =
  | { readonly probe: 'collected'; readonly afterMs: number }
  | { readonly probe: 'kept'; readonly afterMs: number }
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
/** Attempts to take the probe away again, a look apart. */
const CLEAN_UP_ATTEMPTS = 5;

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const;

/**
 * Asks by deed whether another collector runs: an empty ConfigMap that refers to an owner which never was is garbage, and
 * whoever takes it away is a collector. It is deleted again when nobody does. Only while this process does not collect.
 */
export class CollectorProbe {
  readonly #options: CollectorProbeOptions;

  constructor(options: CollectorProbeOptions) {
    this.#options = options;
  }

  /** Rejects with an AbortError when aborted; the probe is taken away also then. */
  async run(signal: AbortSignal): Promise<ProbeOutcome> {
    const { client, clock, random, namespace } = this.#options;
    const suffix = random.uuid().slice(0, 8);
    const name = `kubegc-probe-${suffix}`;
    const ref: ResourceRef = { gvr: configMaps, namespace, name };
    let uid: string | undefined;
    try {
      const created = await client.create<KubeObject>(
        { gvr: configMaps, namespace },
        probeObject(name, random.uuid()),
        {
          signal,
          timeoutMs: TIMEOUT_MS,
        },
      );
      uid = created.metadata?.uid;
      const begun = clock.monotonic();
      while (clock.monotonic() - begun < PATIENCE_MS) {
        await sleep(clock, LOOK_EVERY_MS, signal);
        if (await this.#isGone(ref, uid, signal)) return { probe: 'collected', afterMs: clock.monotonic() - begun };
      }
      return { probe: 'kept', afterMs: clock.monotonic() - begun };
    } catch (error) {
      if (signal.aborted || isAbortError(error)) throw error;
      return { probe: 'failed', detail: messageOf(error) };
    } finally {
      await this.#cleanUp(ref, uid);
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

  /**
   * Not bound to the signal: what was created goes, if the server answers at all. Without the uid it is not known whether the
   * creation happened; the name is ours alone.
   */
  async #cleanUp(ref: ResourceRef, uid: string | undefined): Promise<void> {
    const { client, clock } = this.#options;
    for (let attempt = 1; attempt <= CLEAN_UP_ATTEMPTS; attempt++) {
      try {
        const preconditions = uid === undefined ? {} : { preconditions: { uid } };
        await client.delete(ref, { propagationPolicy: 'Background', ...preconditions }, { timeoutMs: TIMEOUT_MS });
        return;
      } catch (error) {
        if (isObjectNotFound(error, ref.name ?? '')) return;
        if (attempt < CLEAN_UP_ATTEMPTS) await sleep(clock, LOOK_EVERY_MS);
      }
    }
  }
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
