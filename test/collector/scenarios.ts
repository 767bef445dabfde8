import type { Rig } from './rig.ts';
import { clusterRole, configMap, namespace, refTo, refToNothing, secret, type TestKind, widget } from './kinds.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';

const HOLD = 'x.io/hold';

async function letGo(rig: Rig, kind: TestKind, name: string): Promise<void> {
  const object = await rig.get(kind, name);
  const finalizers = (object?.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
  await rig.patch(kind, name, { finalizers });
}

/** Something that a collector has to see through, whatever happens to it meanwhile. */
export interface Scenario {
  readonly name: string;
  /** Resources of the server: few, so that a start is few calls. */
  readonly serve: readonly TestKind[];
  /** Kinds without a type, as a CustomResourceDefinition serves them. */
  readonly custom?: readonly TestKind[];
  /** Before any collector runs. */
  readonly prepare: (rig: Rig) => Promise<void>;
  /** While one runs; it comes to rest after each. */
  readonly steps: readonly ((rig: Rig) => Promise<unknown>)[];
  /** The objects that exist in the end, `Kind namespace/name <- owners` each. */
  readonly left: readonly string[];
}

const small: readonly TestKind[] = [configMap, secret, namespace];

/** owner <- child <- grandchild, and an object that somebody else owns. Answers with the owner. */
async function chain(rig: Rig): Promise<KubeObject> {
  const owner = await rig.create(configMap, 'owner');
  const child = await rig.create(secret, 'child', { owners: [refTo(owner, { block: true })] });
  await rig.create(configMap, 'grandchild', { owners: [refTo(child, { block: true })] });
  const other = await rig.create(configMap, 'other');
  await rig.create(secret, 'unconcerned', { owners: [refTo(other)] });
  return owner;
}

const unconcerned = ['ConfigMap default/other', 'Secret default/unconcerned <- other'];

export const scenarios: readonly Scenario[] = [
  {
    name: 'a chain in background',
    serve: small,
    prepare: async (rig) => void (await chain(rig)),
    steps: [(rig) => rig.delete(configMap, 'owner', 'Background')],
    left: unconcerned,
  },
  {
    name: 'a chain in background, deleted while nobody was there',
    serve: small,
    prepare: async (rig) => {
      await chain(rig);
      await rig.delete(configMap, 'owner', 'Background');
    },
    steps: [],
    left: unconcerned,
  },
  {
    name: 'foreground with blockers, one of them held by a finalizer',
    serve: small,
    prepare: async (rig) => {
      const owner = await chain(rig);
      const owners = [refTo(owner, { block: true })];
      await rig.create(secret, 'held', { owners, finalizers: [HOLD] });
      await rig.create(secret, 'free', { owners: [refTo(owner)] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Foreground'), (rig) => letGo(rig, secret, 'held')],
    left: unconcerned,
  },
  {
    name: 'orphaning, one level deep',
    serve: small,
    prepare: async (rig) => {
      const owner = await chain(rig);
      for (const name of ['second', 'third']) await rig.create(secret, name, { owners: [refTo(owner)] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Orphan')],
    left: [
      'ConfigMap default/grandchild <- child',
      'Secret default/child',
      'Secret default/second',
      'Secret default/third',
      ...unconcerned,
    ],
  },
  {
    name: 'orphaning beside a finalizer of somebody else',
    serve: small,
    prepare: async (rig) => {
      const owner = await rig.create(configMap, 'owner', { finalizers: [HOLD] });
      await rig.create(secret, 'child', { owners: [refTo(owner)] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Orphan'), (rig) => letGo(rig, configMap, 'owner')],
    left: ['Secret default/child'],
  },
  {
    name: 'a circle, deleted in foreground',
    serve: small,
    prepare: async (rig) => {
      const owner = await rig.create(configMap, 'owner');
      const child = await rig.create(secret, 'child', { owners: [refTo(owner, { block: true })] });
      const grandchild = await rig.create(configMap, 'grandchild', { owners: [refTo(child, { block: true })] });
      await rig.patch(configMap, 'owner', { ownerReferences: [refTo(grandchild, { block: true })] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Foreground')],
    left: [],
  },
  {
    name: 'two owners, of which one goes in foreground',
    serve: small,
    prepare: async (rig) => {
      const owner = await rig.create(configMap, 'owner');
      const other = await rig.create(configMap, 'other');
      const both = [refTo(owner, { block: true }), refTo(other, { block: true })];
      await rig.create(secret, 'both', { owners: both });
      await rig.create(secret, 'own', { owners: [refTo(owner, { block: true })] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Foreground')],
    left: ['ConfigMap default/other', 'Secret default/both <- other'],
  },
  {
    name: 'two owners, both of which go',
    serve: small,
    prepare: async (rig) => {
      const owners = [await rig.create(configMap, 'owner'), await rig.create(configMap, 'other')];
      await rig.create(secret, 'both', { owners: owners.map((each) => refTo(each, { block: true })) });
    },
    steps: [
      async (rig) => {
        await rig.delete(configMap, 'owner', 'Foreground');
        await rig.delete(configMap, 'other', 'Background');
      },
    ],
    left: [],
  },
  {
    name: 'an owner in another namespace, which is none',
    serve: small,
    prepare: async (rig) => {
      await rig.create(namespace, 'n2');
      const owner = await rig.create(configMap, 'owner');
      await rig.create(secret, 'near', { owners: [refTo(owner)] });
      await rig.create(secret, 'far', { owners: [refTo(owner)], namespace: 'n2' });
    },
    steps: [async (rig) => void (await rig.create(secret, 'late', { namespace: 'n2' }))],
    left: ['ConfigMap default/owner', 'Secret default/near <- owner', 'Secret n2/late'],
  },
  {
    name: 'a cluster-scoped owner of dependents everywhere',
    serve: [...small, clusterRole],
    prepare: async (rig) => {
      await rig.create(namespace, 'n2');
      const owner = await rig.create(clusterRole, 'owner');
      await rig.create(secret, 'here', { owners: [refTo(owner, { block: true })] });
      await rig.create(secret, 'there', { owners: [refTo(owner, { block: true })], namespace: 'n2' });
      await rig.create(clusterRole, 'role', { owners: [refTo(owner)] });
    },
    steps: [(rig) => rig.delete(clusterRole, 'owner', 'Foreground')],
    left: [],
  },
  {
    name: 'custom objects, which take no strategic merge patch',
    serve: small,
    custom: [widget],
    prepare: async (rig) => {
      const owner = await rig.create(widget, 'owner');
      const other = await rig.create(widget, 'other');
      await rig.create(widget, 'both', { owners: [refTo(owner, { block: true }), refTo(other)] });
      await rig.create(widget, 'own', { owners: [refTo(owner, { block: true })] });
    },
    steps: [(rig) => rig.delete(widget, 'owner', 'Foreground')],
    left: ['Widget default/both <- other', 'Widget default/other'],
  },
  {
    name: 'custom objects, orphaned by a dependent that asked for it before',
    serve: small,
    custom: [widget],
    prepare: async (rig) => {
      const owner = await rig.create(widget, 'owner');
      const wish = await rig.create(widget, 'wish', { finalizers: ['orphan'], owners: [refTo(owner)] });
      for (const name of ['one', 'two']) await rig.create(widget, name, { owners: [refTo(wish)] });
    },
    steps: [(rig) => rig.delete(widget, 'owner', 'Background')],
    left: ['Widget default/one', 'Widget default/two'],
  },
  {
    name: 'owners that never were, under several names',
    serve: small,
    prepare: async (rig) => {
      const one = refToNothing(configMap, 'never');
      await rig.create(secret, 'one', { owners: [one] });
      await rig.create(secret, 'two', { owners: [{ ...one, kind: 'Secret' }] });
      const living = await rig.create(configMap, 'living');
      await rig.create(secret, 'misled', { owners: [refTo(living, { name: 'another' })] });
      await rig.create(secret, 'kept', { owners: [refTo(living), refToNothing(secret, 'gone')] });
    },
    steps: [],
    left: ['ConfigMap default/living', 'Secret default/kept <- living'],
  },
];
