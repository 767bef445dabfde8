import type { Random } from '../../src/base/random/random.ts';

/** Kinds of a scene: namespaced and cluster-scoped, with every default policy, held by finalizers of their own, and implied cascades. */
export type SceneKind =
  | 'ConfigMap'
  | 'Secret'
  | 'ReplicationController'
  | 'Pod'
  | 'PersistentVolumeClaim'
  | 'Widget'
  | 'ClusterRole'
  | 'PersistentVolume'
  | 'Gadget'
  | 'Namespace'
  | 'Definition';

export type ScenePolicy = 'Background' | 'Foreground' | 'Orphan';

export interface SceneOwner {
  /** Index of an object; `missing`: a uid that nobody has. */
  readonly of: number | 'missing';
  /** The field of the reference that is wrong. */
  readonly wrong?: 'name' | 'kind' | 'version';
  readonly block?: boolean;
}

export interface SceneObject {
  readonly kind: SceneKind;
  /** Index of a namespace among the objects. */
  readonly namespace?: number;
  readonly owners: readonly SceneOwner[];
  readonly finalizers?: readonly string[];
  /** Deleted before the preview, and held by its finalizers or its dependents. */
  readonly deletedBefore?: ScenePolicy | 'default';
  /** For a pod: it has a node, and uses these claims. */
  readonly node?: boolean;
  readonly claims?: readonly number[];
  /** For a volume: the claim that is bound to it. */
  readonly claim?: number;
  readonly reclaim?: 'Delete' | 'Retain';
}

export interface SceneRoot {
  readonly of: number;
  readonly policy?: ScenePolicy;
}

/** Objects and what is deleted of them. Plain data, so that one which fails can be made smaller and kept. */
export interface Scene {
  readonly objects: readonly SceneObject[];
  readonly roots: readonly SceneRoot[];
}

const NAMESPACED: readonly SceneKind[] = [
  'ConfigMap',
  'ConfigMap',
  'ConfigMap',
  'Secret',
  'ReplicationController',
  'Pod',
  'PersistentVolumeClaim',
  'Widget',
];
const CLUSTER_SCOPED: readonly SceneKind[] = ['ClusterRole', 'ClusterRole', 'PersistentVolume', 'Gadget'];
const POLICIES: readonly ScenePolicy[] = ['Background', 'Foreground', 'Orphan'];

export const isClusterScoped = (kind: SceneKind): boolean =>
  ['ClusterRole', 'PersistentVolume', 'Gadget', 'Namespace', 'Definition'].includes(kind);

/** A random scene of up to `most` objects. */
export function randomScene(random: Random, most: number): Scene {
  const chance = (probability: number): boolean => random.float() < probability;
  // A namespace or definition that terminates already stays only for the objects in it that are held.
  const container = (kind: 'Namespace' | 'Definition'): SceneObject => ({
    kind,
    owners: [],
    ...(chance(0.08) ? { deletedBefore: 'default' } : {}),
  });
  const objects: SceneObject[] = [container('Namespace')];
  if (chance(0.4)) objects.push(container('Namespace'));
  const namespaces = objects.length;
  const size = 2 + random.integer(most - 1);
  const kinds = Array.from({ length: size }, () => random.pick(chance(0.2) ? CLUSTER_SCOPED : NAMESPACED));
  if (kinds.some((kind) => kind === 'Widget' || kind === 'Gadget')) objects.push(container('Definition'));
  const first = objects.length;
  const indexes = kinds.map((_, i) => first + i);
  const ofKind = (kind: SceneKind): number[] => indexes.filter((i) => kinds[i - first] === kind);
  const densely = chance(0.3);
  for (const [i, kind] of kinds.entries()) {
    const namespace = isClusterScoped(kind) ? undefined : random.integer(namespaces);
    const owners: SceneOwner[] = [];
    const count = chance(0.25) ? 0 : densely ? 1 + random.integer(3) : 1 + random.integer(chance(0.25) ? 2 : 1);
    for (let n = 0; n < count; n++) {
      // Mostly what comes before, so that cycles are there but not everywhere; namespaces and definitions own things, too.
      const of = chance(0.05)
        ? ('missing' as const)
        : chance(0.85)
          ? random.integer(first + i)
          : first + random.integer(size);
      const wrong = chance(0.06) ? random.pick(['name', 'kind', 'version'] as const) : undefined;
      owners.push({ of, ...(wrong === undefined ? {} : { wrong }), ...(chance(0.5) ? { block: chance(0.8) } : {}) });
    }
    const claims = ofKind('PersistentVolumeClaim');
    objects.push({
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      owners: chance(0.02) ? [...owners, { of: first + i, block: chance(0.5) }] : owners,
      ...(chance(0.12) ? { finalizers: ['example.com/hold'] } : {}),
      ...(chance(0.04) ? { deletedBefore: chance(0.4) ? 'default' : random.pick(POLICIES) } : {}),
      ...(kind === 'Pod' && chance(0.5) ? { node: true } : {}),
      ...(kind === 'Pod' && claims.length > 0 && chance(0.7) ? { claims: [random.pick(claims)] } : {}),
      ...(kind === 'PersistentVolume' && claims.length > 0 && chance(0.8)
        ? { claim: random.pick(claims), reclaim: chance(0.6) ? 'Delete' : 'Retain' }
        : {}),
    });
  }
  const roots = Array.from({ length: chance(0.7) ? 1 : 1 + random.integer(3) }, (): SceneRoot => {
    const of = chance(0.15) ? random.integer(first) : random.integer(objects.length);
    return { of, ...(chance(0.3) ? {} : { policy: random.pick(POLICIES) }) };
  });
  return { objects, roots: roots.filter((root, i) => roots.findIndex(({ of }) => of === root.of) === i) };
}

/** The scene without one object or with less about one; each smaller than it. */
export function* smaller(scene: Scene): Generator<Scene> {
  const { objects, roots } = scene;
  for (let i = roots.length - 1; i >= 0 && roots.length > 1; i--) yield { objects, roots: roots.toSpliced(i, 1) };
  for (let i = objects.length - 1; i > 0; i--) {
    const without = withoutObject(scene, i);
    if (without !== undefined) yield without;
  }
  for (const [i, object] of objects.entries()) {
    const { finalizers, deletedBefore, node, claims, claim, reclaim, ...plain } = object;
    const change = (next: SceneObject): Scene => ({ objects: objects.toSpliced(i, 1, next), roots });
    for (let n = object.owners.length - 1; n >= 0; n--)
      yield change({ ...object, owners: object.owners.toSpliced(n, 1) });
    for (const [n, owner] of object.owners.entries()) {
      if (owner.block !== undefined)
        yield change({
          ...object,
          owners: object.owners.toSpliced(n, 1, { of: owner.of, ...(owner.wrong ? { wrong: owner.wrong } : {}) }),
        });
    }
    const extras = { finalizers, deletedBefore, node, claims, claim, reclaim };
    for (const key of Object.keys(extras) as (keyof typeof extras)[]) {
      if (extras[key] === undefined) continue;
      const rest = Object.fromEntries(
        Object.entries(extras).filter(([name, value]) => name !== key && value !== undefined),
      );
      yield change({ ...plain, ...rest });
    }
  }
}

function withoutObject({ objects, roots }: Scene, gone: number): Scene | undefined {
  const { kind } = objects[gone]!;
  if (objects.some(({ namespace }) => namespace === gone)) return undefined;
  if (kind === 'Definition' && objects.some((each) => each.kind === 'Widget' || each.kind === 'Gadget'))
    return undefined;
  const moved = (index: number): number => (index > gone ? index - 1 : index);
  const left = roots.filter(({ of }) => of !== gone).map((root) => ({ ...root, of: moved(root.of) }));
  if (left.length === 0) return undefined;
  return {
    objects: objects.toSpliced(gone, 1).map((object): SceneObject => {
      const { namespace, claims, claim, ...rest } = object;
      const kept = claims?.filter((each) => each !== gone).map(moved);
      return {
        ...rest,
        ...(namespace === undefined ? {} : { namespace: moved(namespace) }),
        ...(kept === undefined || kept.length === 0 ? {} : { claims: kept }),
        ...(claim === undefined || claim === gone ? {} : { claim: moved(claim) }),
        owners: object.owners
          .filter(({ of }) => of !== gone)
          .map((owner) => (owner.of === 'missing' ? owner : { ...owner, of: moved(owner.of) })),
      };
    }),
    roots: left,
  };
}
