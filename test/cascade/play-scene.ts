import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { isNotFound } from '../../src/api/status-error.ts';
import { makePlan } from '../../src/cascade/preview/make-plan.ts';
import { previewCascade } from '../../src/cascade/preview/preview.ts';
import { simulate, type SimulationRequest } from '../../src/cascade/simulate/simulation.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import type { Snapshot } from '../../src/cascade/snapshot/snapshot.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import type { ResourceRef } from '../../src/client/rest/resource-path.ts';
import type { RestClient } from '../../src/client/rest/rest-client.ts';
import { isClusterScoped, type Scene, type SceneKind, type SceneObject } from './scene.ts';
import { isOwnerOrderRace } from './owner-order-race.ts';
import type { Stage } from './stage.ts';

const CRD = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };

/** How many times stand-ins for nodes and storage may act after one deletion. */
const MAX_ACTS = 20;

/** Plays a scene: makes it, previews it, deletes it, compares. Resolves with every difference, in words. */
export async function playScene(
  stage: Stage,
  scene: Scene,
  { prefix, seed }: { readonly prefix: string; readonly seed: number },
): Promise<string[]> {
  const set = new SceneObjects(stage.client, scene, prefix);
  await set.build(stage);
  if (!stage.hasNodes) await standInToRest(stage, undefined);
  const snapshot = await readSnapshot({ client: stage.client, clock: systemClock });
  const roots = scene.roots.flatMap(({ of, policy }) => {
    const uid = set.uids[of];
    const id = uid === undefined ? -1 : snapshot.graph.find(uid);
    // An object without a node of its own is only known from references.
    if (uid === undefined || id < 0 || !snapshot.graph.isObserved(id)) return [];
    return [{ uid, ...(policy === undefined ? {} : { policy }) }];
  });
  if (roots.length === 0) return [];
  // Several roots at once race with what follows from the first of them: each object ends as in one of the two orders. One by one nothing races.
  const order = seed % 2 === 0 ? 'atOnce' : 'oneByOne';
  const request: SimulationRequest = {
    roots,
    order,
    assumeFinalizers: 'kept',
    actors: { kubelet: true, podCollection: false, volumeReclaim: true },
  };
  const plan = await previewCascade(stage.client, snapshot, request);
  const result = simulate(snapshot, request);
  if (JSON.stringify(makePlan(snapshot, request, result)) !== JSON.stringify(plan))
    return ['the same snapshot gives two plans'];

  const races = order === 'atOnce' && roots.length > 1;
  // The collector and the controller of a namespace or a definition race, too: what they leave of a held object may differ.
  const others = [
    simulate(snapshot, { ...request, first: 'collector' }),
    ...(races
      ? [
          simulate(snapshot, { ...request, order: 'oneByOne' }),
          simulate(snapshot, { ...request, order: 'oneByOne', first: 'collector' }),
        ]
      : []),
  ];

  stage.removals();
  for (const { uid, policy } of roots) {
    await deleteRoot(stage.client, snapshot, uid, policy);
    if (order === 'atOnce') continue;
    await stage.rest();
    if (!stage.hasNodes) await standInToRest(stage, snapshot);
  }
  await stage.rest();
  if (!stage.hasNodes) await standInToRest(stage, snapshot);
  const after = await readSnapshot({ client: stage.client, clock: systemClock, catalogue: snapshot.catalogue });

  const removals = stage.removals();
  const waited = new Set(
    [...result.trails.values()]
      .filter((trail) => trail.waited === true || trail.decided === 'noBlockingDependents')
      .map(({ uid }) => uid),
  );
  const differences: string[] = [];
  snapshot.graph.forEachNode((id) => {
    if (!snapshot.graph.isObserved(id)) return;
    const { uid, namespace, name, kind } = snapshot.graph.identityAt(id);
    if (!`${namespace}/${name}`.includes(prefix)) return;
    // An object that its namespace or definition deletes may lose references to deleted objects, or be deleted before that.
    const ignored = result.emptied.has(uid) ? result.server.removed : NONE;
    const inPreview = result.server.get(uid);
    const inReality = realObject(after, uid);
    const previewed = stateOf(inPreview, ignored);
    const real = stateOf(inReality, ignored);
    const planned = plan.objects.find(({ ref }) => ref.uid === uid);
    const isRace =
      others.some(({ server }) => stateOf(server.get(uid), ignored) === real) ||
      ((planned?.via === 'ownerReference' || (races && planned?.via === 'request')) &&
        isOwnerOrderRace(inPreview, inReality, { removed: result.server.removed, removals, waited }));
    if (previewed !== real && isRace) {
      stage.raced?.();
      return;
    }
    if (previewed !== real) differences.push(`${kind} ${namespace}/${name}: previewed ${previewed}, real ${real}`);
    const goes = planned?.sequence !== undefined;
    if (goes !== result.server.removed.has(uid))
      differences.push(`${kind} ${name}: the plan says ${planned?.outcome}, the simulation does not`);
    if (goes && planned?.outcome !== 'deleted' && planned?.outcome !== 'waits')
      differences.push(`${kind} ${name} goes, but is ${planned?.outcome}`);
    if (planned === undefined && stateOf(realObject(snapshot, uid), ignored) !== real)
      differences.push(`${kind} ${name} changed, but is not in the plan`);
    if (planned?.outcome === 'stuck' && planned.reason === 'nothingFreesIt' && real === 'gone')
      differences.push(`${kind} ${name} is no stuck object`);
  });
  if (removals !== undefined && !races) {
    const place = new Map(removals.map((uid, i) => [uid, i]));
    for (const { ref, waitsFor = [], outcome } of plan.objects) {
      const own = place.get(ref.uid);
      if (own === undefined) continue;
      for (const uid of waitsFor) {
        const other = place.get(uid);
        if (other === undefined || other < own) continue;
        differences.push(`${outcome} ${ref.kind} ${ref.name} went before ${uid}, which it waits for`);
      }
    }
  }
  return differences;
}

function realObject(snapshot: Snapshot, uid: string): KubeObject | undefined {
  const id = snapshot.graph.find(uid);
  return id < 0 || !snapshot.graph.isObserved(id) ? undefined : { metadata: snapshot.metadataOf(id) };
}

const NONE: Pick<ReadonlySet<string>, 'has'> = new Set();

/** The compared state of an object: whether it exists or terminates, its references and its finalizers. */
function stateOf(object: KubeObject | undefined, ignored: Pick<ReadonlySet<string>, 'has'>): string {
  if (object === undefined) return 'gone';
  const { deletionTimestamp, ownerReferences = [], finalizers = [] } = object.metadata ?? {};
  const references = ownerReferences
    .filter(({ uid }) => !ignored.has(uid))
    .map(({ uid, kind, name, blockOwnerDeletion }) => `${kind}/${name} ${uid} ${blockOwnerDeletion === true}`);
  return JSON.stringify({ terminating: Boolean(deletionTimestamp), references, finalizers: finalizers.toSorted() });
}

async function deleteRoot(
  client: RestClient,
  snapshot: Snapshot,
  uid: string,
  policy: string | undefined,
): Promise<void> {
  const id = snapshot.graph.find(uid);
  const { group, version, resource } = snapshot.resourceOf(id)!;
  const { namespace, name } = snapshot.graph.identityAt(id);
  try {
    await client.delete(
      { gvr: { group, version, resource }, ...(namespace === '' ? {} : { namespace }), name },
      { preconditions: { uid }, ...(policy === undefined ? {} : { propagationPolicy: policy as 'Background' }) },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function standInToRest(stage: Stage, before: Snapshot | undefined): Promise<void> {
  for (let act = 0; act < MAX_ACTS; act++) {
    if (!(await standIn(stage.client, before))) return;
    await stage.rest();
  }
}

/** Does what nodes and storage would: ends pods that have a node, reclaims volumes whose claim is gone. Resolves with whether it did. */
async function standIn(client: RestClient, before: Snapshot | undefined): Promise<boolean> {
  let acted = false;
  const pods = await client.list({ gvr: { group: '', version: 'v1', resource: 'pods' } });
  for (const { metadata = {} } of pods.items) {
    if (!metadata.deletionTimestamp || (metadata.deletionGracePeriodSeconds ?? 0) === 0) continue;
    const { name = '', namespace = '', uid = '', finalizers = [] } = metadata;
    const propagationPolicy = finalizers.includes('orphan')
      ? 'Orphan'
      : finalizers.includes('foregroundDeletion')
        ? 'Foreground'
        : 'Background';
    await client.delete(
      { gvr: { group: '', version: 'v1', resource: 'pods' }, namespace, name },
      { gracePeriodSeconds: 0, preconditions: { uid }, propagationPolicy },
    );
    acted = true;
  }
  if (before === undefined) return acted;
  const volumes = { group: '', version: 'v1', resource: 'persistentvolumes' };
  const claims = await client.list({ gvr: { group: '', version: 'v1', resource: 'persistentvolumeclaims' } });
  const alive = new Set(claims.items.map(({ metadata }) => metadata?.uid));
  for (const volume of (await client.list({ gvr: volumes })).items) {
    const { claimRef, persistentVolumeReclaimPolicy: reclaim } = (volume['spec'] ?? {}) as {
      claimRef?: { uid?: string };
      persistentVolumeReclaimPolicy?: string;
    };
    const phase = (volume['status'] as { phase?: string } | undefined)?.phase;
    const name = volume.metadata?.name ?? '';
    if (
      claimRef?.uid === undefined ||
      alive.has(claimRef.uid) ||
      !wasThere(before, claimRef.uid) ||
      phase === 'Released'
    )
      continue;
    await client.patch(
      { gvr: volumes, name, subresource: 'status' },
      { type: 'application/merge-patch+json', body: { status: { phase: 'Released' } } },
    );
    if (reclaim === 'Delete') await client.delete({ gvr: volumes, name }).catch(ignoreMissing);
    acted = true;
  }
  return acted;
}

function wasThere({ graph }: Snapshot, uid: string): boolean {
  const id = graph.find(uid);
  return id >= 0 && graph.isObserved(id);
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** The objects of a scene on a cluster. */
class SceneObjects {
  /** By index; undefined for what was gone before it was noticed. */
  readonly uids: (string | undefined)[] = [];
  readonly #client: RestClient;
  readonly #scene: Scene;
  readonly #prefix: string;

  constructor(client: RestClient, scene: Scene, prefix: string) {
    this.#client = client;
    this.#scene = scene;
    this.#prefix = prefix;
  }

  async build(stage: Stage): Promise<void> {
    const { objects } = this.#scene;
    const isEarly = ({ kind }: SceneObject): boolean => kind === 'Namespace' || kind === 'Definition';
    await this.#createAll((object) => isEarly(object));
    await stage.rest();
    if (objects.some(({ kind }) => kind === 'Definition')) await this.#untilServed(stage);
    if (objects.some(({ node }) => node)) {
      await this.#client.create(
        { gvr: { group: '', version: 'v1', resource: 'nodes' } },
        { apiVersion: 'v1', kind: 'Node', metadata: { name: `${this.#prefix}-node` } },
      );
    }
    await this.#createAll((object) => !isEarly(object) && object.kind !== 'PersistentVolume');
    await this.#createAll((object) => object.kind === 'PersistentVolume');
    await stage.rest();
    await Promise.all(objects.map((object, i) => this.#setOwners(object, i)));
    await stage.rest();
    for (const [i, { deletedBefore }] of objects.entries()) {
      if (deletedBefore === undefined) continue;
      const options = deletedBefore === 'default' ? {} : { propagationPolicy: deletedBefore };
      await this.#client.delete(this.#ref(i), options).catch(ignoreMissing);
    }
    await stage.rest();
  }

  async #createAll(which: (object: SceneObject) => boolean): Promise<void> {
    await Promise.all(
      this.#scene.objects.map(async (object, i) => {
        if (!which(object)) return;
        for (const body of this.#bodiesOf(object, i)) {
          const { name: _name, ...collection } = this.#ref(i, body.kind);
          const created = await this.#client.create(collection, body);
          this.uids[i] ??= created.metadata?.uid;
        }
        if (object.claim !== undefined) {
          await this.#client.patch(
            { ...this.#ref(i), subresource: 'status' },
            { type: 'application/merge-patch+json', body: { status: { phase: 'Bound' } } },
          );
        }
      }),
    );
  }

  async #untilServed(stage: Stage): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const { resources } = await discover(this.#client);
      const served = resources.filter(({ group }) => group === this.#group);
      if (served.length >= 2) return stage.kindsNoticed();
      await stage.rest();
    }
    throw new Error('the kinds of the scene are not served');
  }

  async #setOwners({ owners }: SceneObject, index: number): Promise<void> {
    if (owners.length === 0) return;
    const ownerReferences = owners.map((owner) => {
      const uid =
        owner.of === 'missing' ? `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` : this.uids[owner.of]!;
      const kind: SceneKind = owner.of === 'missing' ? 'ConfigMap' : this.#scene.objects[owner.of]!.kind;
      const { apiVersion, kind: name } = this.#typeOf(kind);
      return {
        apiVersion: owner.wrong === 'version' ? 'example.com/v9' : apiVersion,
        kind: owner.wrong === 'kind' ? 'Endpoints' : name,
        name:
          owner.wrong === 'name'
            ? `${this.#prefix}-wrong`
            : owner.of === 'missing'
              ? `${this.#prefix}-missing`
              : this.#nameOf(owner.of),
        uid,
        ...(owner.block === undefined ? {} : { blockOwnerDeletion: owner.block }),
      };
    });
    await this.#client
      .patch(this.#ref(index), { type: 'application/merge-patch+json', body: { metadata: { ownerReferences } } })
      .catch(ignoreMissing);
  }

  get #group(): string {
    return `${this.#prefix}.example.com`;
  }

  #nameOf(index: number): string {
    const { kind } = this.#scene.objects[index]!;
    if (kind === 'Definition') return `widgets.${this.#group}`;
    return `${this.#prefix}-${index}`;
  }

  #typeOf(kind: SceneKind): { readonly apiVersion: string; readonly kind: string; readonly gvr: ResourceRef['gvr'] } {
    switch (kind) {
      case 'Widget':
      case 'Gadget':
        return {
          apiVersion: `${this.#group}/v1`,
          kind,
          gvr: { group: this.#group, version: 'v1', resource: `${kind.toLowerCase()}s` },
        };
      case 'Definition':
        return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', gvr: CRD };
      case 'ClusterRole':
        return {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind,
          gvr: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' },
        };
      default:
        return { apiVersion: 'v1', kind, gvr: { group: '', version: 'v1', resource: `${kind.toLowerCase()}s` } };
    }
  }

  #ref(index: number, kind?: string): ResourceRef & { readonly name: string } {
    const object = this.#scene.objects[index]!;
    const { gvr } = this.#typeOf(object.kind);
    const namespace = object.namespace === undefined ? undefined : this.#nameOf(object.namespace);
    const name = kind === undefined || object.kind !== 'Definition' ? this.#nameOf(index) : '';
    return { gvr, ...(isClusterScoped(object.kind) || namespace === undefined ? {} : { namespace }), name };
  }

  #bodiesOf(object: SceneObject, index: number): KubeObject[] {
    if (object.kind === 'Definition')
      return [this.#definition('Widget', 'Namespaced'), this.#definition('Gadget', 'Cluster')];
    const { apiVersion, kind } = this.#typeOf(object.kind);
    const metadata = {
      name: this.#nameOf(index),
      ...(object.finalizers === undefined ? {} : { finalizers: [...object.finalizers] }),
    };
    return [{ apiVersion, kind, metadata, ...this.#specOf(object) }];
  }

  #specOf({ kind, node, claims = [], claim, reclaim }: SceneObject): Record<string, unknown> {
    switch (kind) {
      case 'ReplicationController':
        return {
          spec: {
            replicas: 0,
            selector: { app: this.#prefix },
            template: {
              metadata: { labels: { app: this.#prefix } },
              spec: { containers: [{ name: 'c', image: 'i' }] },
            },
          },
        };
      case 'Pod':
        return {
          spec: {
            containers: [{ name: 'c', image: 'i' }],
            ...(node === true ? { nodeName: `${this.#prefix}-node` } : {}),
            volumes: claims.map((each, i) => ({
              name: `v${i}`,
              persistentVolumeClaim: { claimName: this.#nameOf(each) },
            })),
          },
        };
      case 'PersistentVolumeClaim':
        return { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
      case 'PersistentVolume':
        return {
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteOnce'],
            hostPath: { path: '/data' },
            persistentVolumeReclaimPolicy: reclaim ?? 'Retain',
            ...(claim === undefined
              ? {}
              : {
                  claimRef: {
                    apiVersion: 'v1',
                    kind: 'PersistentVolumeClaim',
                    name: this.#nameOf(claim),
                    namespace: this.#nameOf(this.#scene.objects[claim]!.namespace!),
                    uid: this.uids[claim],
                  },
                }),
          },
        };
      case 'ClusterRole':
        return { rules: [] };
      case 'Widget':
      case 'Gadget':
        return { spec: {} };
      default:
        return {};
    }
  }

  #definition(kind: string, scope: string): KubeObject {
    const plural = `${kind.toLowerCase()}s`;
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${this.#group}` },
      spec: {
        group: this.#group,
        scope,
        names: { plural, singular: kind.toLowerCase(), kind },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
  }
}
