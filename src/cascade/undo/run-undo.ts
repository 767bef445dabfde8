import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  isObjectNotFound,
  StatusError,
} from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { grouped } from '../../base/collections/grouped.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { withoutAddresses } from './kind-traps.ts';
import { type PlannedUndo, restoreContextOf } from './plan-undo.ts';
import { groupKind } from './rebuilt-by-controller.ts';
import { currentReferences, isEmptyStatus, restoreBody, type RestoreContext } from './restore-body.ts';
import { restoredFromUid } from './restored-from.ts';
import { coordinatesOfObject, type ServedKind } from './undo-facts.ts';
import type { UndoObject } from '../documents/undo-plan.ts';
import type { UndoneObject, UndoOutcome, UndoResult } from '../documents/undo-result.ts';
import { type RestoredObject, verifyOwnerEdges } from './verify-owner-edges.ts';

export interface UndoRunOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly signal?: AbortNotice;
  /** Called after each object with the number of completed objects and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The plan has conflicts, and `--on-conflict=fail` was set, so nothing was created. */
export class UndoConflictError extends Error {
  readonly conflicts: readonly UndoObject[];

  constructor(conflicts: readonly UndoObject[]) {
    const [first] = conflicts;
    const { resource = '', name = '' } = first?.ref ?? {};
    const more = conflicts.length === 1 ? '' : ` and ${conflicts.length - 1} more`;
    super(`${resource}/${name}${more} cannot be restored: ${first?.message ?? ''}`);
    this.name = 'UndoConflictError';
    this.conflicts = conflicts;
  }
}

/** Maximum number of concurrent creates. */
const PARALLEL = 16;
const MAX_CONFLICTS = 5;
/** How long to wait until a restored definition is served: 150 reads, 200 ms apart. */
const DEFINITION = { looks: 150, pauseMs: 200 };
const MANAGER = { fieldManager: 'kubegc-undo' };

/**
 * Creates the objects of the plan, owners first, and reads everything again at the end. It may be killed at any request and run again with
 * a new plan, because restored objects have the annotation `kubegc.io/restored-from`. Throws an UndoConflictError if the plan has conflicts
 * that must not be skipped. Any other failure is in the result.
 */
export async function runUndo(planned: PlannedUndo, options: UndoRunOptions): Promise<UndoResult> {
  const { plan, facts } = planned;
  const conflicts = plan.objects.filter(({ action }) => action === 'conflict');
  if (plan.onConflict === 'fail' && conflicts.length > 0) throw new UndoConflictError(conflicts);
  const run = new UndoRun(planned, options);
  // Objects without a wave come first, because they need no create.
  const waves = grouped(plan.objects.keys(), (index) => String(plan.objects[index]!.wave ?? -1));
  for (const wave of [...waves.keys()].map(Number).toSorted((a, b) => a - b)) await run.wave(waves.get(String(wave))!);
  const ownerEdges = await verifyOwnerEdges(run.restored(), { ...options, served: facts.served });
  const objects = run.outcomes();
  const summary = { created: 0, present: 0, left: 0, conflict: 0, failed: 0 };
  for (const { outcome } of objects) summary[outcome]++;
  return { apiVersion: DOCUMENT_API_VERSION, kind: 'UndoResult', id: plan.id, objects, summary, ownerEdges };
}

interface Progress {
  outcome: UndoOutcome;
  uid?: string;
  message?: string;
  notes: readonly string[];
}

class UndoRun {
  readonly #planned: PlannedUndo;
  readonly #options: UndoRunOptions;
  /** By index in the record. */
  readonly #progress: (Progress | undefined)[] = [];
  /** Current uids by recorded uid. */
  readonly #uids = new Map<string, string>();
  /** Recorded uids of objects whose create failed. */
  readonly #failed = new Set<string>();
  #done = 0;
  #stopped = false;

  constructor(planned: PlannedUndo, options: UndoRunOptions) {
    this.#planned = planned;
    this.#options = options;
  }

  async wave(indices: readonly number[]): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < indices.length && !this.#stopped) await this.#oneOrStop(indices[next++]!);
    };
    const ended = await Promise.allSettled(Array.from({ length: PARALLEL }, work));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
    const definitions = indices.filter(
      (index) => isDefinition(this.#body(index)) && this.#progress[index]!.uid !== undefined,
    );
    await Promise.all(definitions.map((index) => this.#untilServed(this.#body(index))));
  }

  outcomes(): UndoneObject[] {
    return this.#planned.plan.objects.map(({ ref }, index) => {
      const { outcome, uid, message, notes } = this.#progress[index]!;
      return {
        ref,
        outcome,
        ...(uid === undefined ? {} : { uid }),
        ...(message === undefined ? {} : { message }),
        ...(notes.length === 0 ? {} : { notes }),
      };
    });
  }

  /** Objects that this run or an earlier one restored, with their intended owners. */
  restored(): RestoredObject[] {
    return this.#planned.plan.objects.flatMap(({ reason }, index) => {
      const { outcome, uid } = this.#progress[index]!;
      if (uid === undefined || (outcome !== 'created' && reason !== 'alreadyRestored')) return [];
      const recorded = this.#body(index);
      return [{ recorded, uid, expectedOwners: currentReferences(recorded, this.#context(recorded).ownerUid) }];
    });
  }

  /** After an error that does not concern a single object, nothing more is started. */
  async #oneOrStop(index: number): Promise<void> {
    try {
      await this.#one(index);
    } catch (error) {
      this.#stopped = true;
      throw error;
    }
  }

  async #one(index: number): Promise<void> {
    const { action, reason, message } = this.#planned.plan.objects[index]!;
    const body = this.#body(index);
    const live = this.#planned.facts.live.get(coordinatesOfObject(body));
    const set = (progress: Omit<Progress, 'notes'> & { notes?: readonly string[] }): void => {
      this.#progress[index] = { notes: [], ...progress };
      const recordedUid = body.metadata?.uid ?? '';
      if (progress.outcome === 'failed' && action === 'create') this.#failed.add(recordedUid);
      if (progress.uid !== undefined) this.#uids.set(recordedUid, progress.uid);
      this.#options.onProgress?.(++this.#done, this.#planned.plan.objects.length);
    };
    switch (action) {
      case 'leave':
        return set({ outcome: 'left', message });
      case 'impossible':
        return set({ outcome: 'failed', message });
      case 'conflict':
        return set({ outcome: 'conflict', message, ...(live === undefined ? {} : { uid: live.uid }) });
      case 'present':
        try {
          if (reason === 'alreadyRestored') await this.#complete(body, live!.uid);
          return set({ outcome: 'present', message, uid: live!.uid });
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          return set({ outcome: 'failed', message: error.message, uid: live!.uid });
        }
      case 'create':
        try {
          return set(await this.#create(body));
        } catch (error) {
          // An abort or a lost network ends the run with the error; a refusal of the server concerns only this object.
          if (!(error instanceof StatusError)) throw error;
          return set({ outcome: 'failed', message: error.message });
        }
    }
  }

  async #create(recorded: KubeObject): Promise<Omit<Progress, 'notes'> & { notes: readonly string[] }> {
    const missing = this.#failedOwner(recorded);
    if (missing !== undefined)
      return { outcome: 'failed', message: `its owner ${missing} could not be restored`, notes: [] };
    const { body, status, notes } = this.#restoreBody(recorded);
    const ref = this.#collection(recorded);
    const { client, signal } = this.#options;
    const send = (sent: KubeObject): Promise<KubeObject> => client.create(ref, sent, { query: MANAGER, signal });
    const said = [...notes];
    let created: KubeObject;
    try {
      created = await this.#patiently(recorded, async () => {
        try {
          return await send(body);
        } catch (error) {
          const other = isInvalid(error) && isAboutAddress(error) ? withoutAddresses(body) : undefined;
          if (other === undefined) throw error;
          said.push(other.note);
          return await send(other.body);
        }
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#takenMeanwhile(recorded);
    }
    const uid = created.metadata?.uid ?? '';
    if (status !== undefined) await this.#restoreStatus(recorded, created, status);
    await this.#reserveVolume(recorded, uid);
    return { outcome: 'created', uid, notes: said };
  }

  /** An earlier run was killed after it had created the object: completes the steps that may be left. */
  async #complete(recorded: KubeObject, uid: string): Promise<void> {
    const { status } = this.#restoreBody(recorded);
    if (status !== undefined) {
      const { client, signal } = this.#options;
      const live = await client.get(this.#named(recorded), { signal });
      if (live.metadata?.uid === uid && isEmptyStatus(live['status']))
        await this.#restoreStatus(recorded, live, status);
    }
    await this.#reserveVolume(recorded, uid);
  }

  /** The name was free when the plan was made. A controller may have been faster, or an answer to this run was lost. */
  async #takenMeanwhile(recorded: KubeObject): Promise<Omit<Progress, 'notes'> & { notes: readonly string[] }> {
    const { client, signal } = this.#options;
    const live = await client.get(this.#named(recorded), { signal });
    const uid = live.metadata?.uid ?? '';
    if (restoredFromUid(live.metadata) === recorded.metadata?.uid) {
      await this.#complete(recorded, uid);
      return { outcome: 'created', uid, notes: [] };
    }
    const before = recorded.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    const now = live.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    const rebuilt = now !== undefined && before !== undefined && now.kind === before.kind && now.name === before.name;
    if (rebuilt) return { outcome: 'present', uid, message: 'its controller made it again', notes: [] };
    return { outcome: 'conflict', uid, message: 'another object took its name while this undo ran', notes: [] };
  }

  /** Writes the status of a custom resource, unless its controller has already written one. */
  async #restoreStatus(recorded: KubeObject, created: KubeObject, status: unknown): Promise<void> {
    const { client, signal } = this.#options;
    const uid = created.metadata?.uid;
    let current = created;
    for (let conflicts = 0; ; conflicts++) {
      try {
        const ref = { ...this.#named(recorded), subresource: 'status' };
        await client.update(ref, { ...current, status }, { query: MANAGER, signal });
        return;
      } catch (error) {
        if (!isConflict(error) || conflicts >= MAX_CONFLICTS) throw error;
        current = await client.get(this.#named(recorded), { signal });
        if (current.metadata?.uid !== uid || !isEmptyStatus(current['status'])) return;
      }
    }
  }

  /** A retained volume names its claim by uid, and stays released without the new one. */
  async #reserveVolume(recorded: KubeObject, uid: string): Promise<void> {
    if (groupKind(recorded.apiVersion, recorded.kind) !== '/PersistentVolumeClaim') return;
    const name = (recorded['spec'] as { volumeName?: string } | undefined)?.volumeName;
    if (name === undefined || name === '') return;
    const { client, signal } = this.#options;
    const ref = { gvr: { group: '', version: 'v1', resource: 'persistentvolumes' }, name };
    const { namespace, name: claimName } = recorded.metadata ?? {};
    for (let conflicts = 0; ; conflicts++) {
      try {
        const volume = await client.get(ref, { signal });
        const { claimRef } = (volume['spec'] ?? {}) as {
          claimRef?: { namespace?: string; name?: string; uid?: string };
        };
        if (claimRef?.namespace !== namespace || claimRef?.name !== claimName || claimRef?.uid === uid) return;
        const { uid: volumeUid, resourceVersion } = volume.metadata ?? {};
        const body = {
          metadata: { uid: volumeUid, resourceVersion },
          spec: { claimRef: { uid, resourceVersion: null } },
        };
        await client.patch(ref, { type: 'application/merge-patch+json', body }, { query: MANAGER, signal });
        return;
      } catch (error) {
        if (isObjectNotFound(error, name)) return;
        if (!isConflict(error) || conflicts >= MAX_CONFLICTS) throw error;
      }
    }
  }

  /** The path of a restored definition's kind may still answer 404 briefly after the definition is established. */
  async #patiently<T>(recorded: KubeObject, send: () => Promise<T>): Promise<T> {
    const { clock, signal } = this.#options;
    for (let look = 0; ; look++) {
      try {
        return await send();
      } catch (error) {
        const { apiVersion = '', kind = '' } = recorded;
        const fromRecord = this.#served(apiVersion, kind)?.builtIn === false && isNotFound(error);
        if (!fromRecord || look >= DEFINITION.looks) throw error;
        await sleep(clock, DEFINITION.pauseMs, signal);
      }
    }
  }

  async #untilServed(definition: KubeObject): Promise<void> {
    const { client, clock, signal } = this.#options;
    for (let look = 0; look < DEFINITION.looks; look++) {
      const live = await client.get(this.#named(definition), { signal });
      // A definition that the server has not processed yet has `conditions: null`.
      const { conditions } = (live['status'] ?? {}) as { conditions?: { type?: string; status?: string }[] | null };
      if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
      await sleep(clock, DEFINITION.pauseMs, signal);
    }
  }

  /** An owner whose restore failed. Without it the collector would delete the object again. */
  #failedOwner({ metadata }: KubeObject): string | undefined {
    const failed = metadata?.ownerReferences?.find(({ uid }) => this.#failed.has(uid));
    return failed && `${failed.kind.toLowerCase()}/${failed.name}`;
  }

  #restoreBody(recorded: KubeObject): ReturnType<typeof restoreBody> {
    return restoreBody(recorded, this.#context(recorded));
  }

  #context(recorded: KubeObject): RestoreContext {
    const served = this.#served(recorded.apiVersion ?? '', recorded.kind ?? '')!;
    return restoreContextOf(recorded, this.#planned, served, (uid) => this.#uids.get(uid));
  }

  #served(apiVersion: string, kind: string): ServedKind | undefined {
    return this.#planned.facts.served(apiVersion, kind);
  }

  #body(index: number): KubeObject {
    return this.#planned.facts.objects[index]!.body;
  }

  #collection({ apiVersion = '', kind = '', metadata }: KubeObject): ResourceRef {
    const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
    const { resource, namespaced } = this.#served(apiVersion, kind)!;
    return { gvr: { group, version, resource }, ...(namespaced ? { namespace: metadata?.namespace } : {}) };
  }

  #named(body: KubeObject): ResourceRef & { readonly name: string } {
    return { ...this.#collection(body), name: body.metadata?.name ?? '' };
  }
}

const isDefinition = ({ apiVersion, kind }: KubeObject): boolean =>
  groupKind(apiVersion, kind) === 'apiextensions.k8s.io/CustomResourceDefinition';

/** `spec.clusterIPs[0]: Invalid value: … provided IP is already allocated`, `spec.ports[0].nodePort: … provided port is already allocated`. */
const isAboutAddress = (error: StatusError): boolean =>
  /clusterIP|nodePort|healthCheckNodePort|provided (IP|port)/.test(error.message);
