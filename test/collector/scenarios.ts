import type { ObjectOptions, Policy, Rig } from './rig.ts';
import type { History } from './history.ts';
import { clusterRole, configMap, namespace, refTo, refToNothing, secret, type TestKind, widget } from './kinds.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';

export const HOLD = 'x.io/hold';

/** A client that keeps the history informed of what it deletes itself. */
export class Client {
  readonly rig: Rig;
  readonly #history: History;

  constructor(rig: Rig, history: History) {
    this.rig = rig;
    this.#history = history;
  }

  create(kind: TestKind, name: string, options?: ObjectOptions): Promise<KubeObject> {
    return this.rig.create(kind, name, options);
  }

  async delete(kind: TestKind, name: string, policy: Policy): Promise<void> {
    const object = await this.rig.get(kind, name);
    this.#history.deletedByClient(object?.metadata?.uid ?? '');
    await this.rig.delete(kind, name, policy);
  }

  async letGo(kind: TestKind, name: string): Promise<void> {
    const object = await this.rig.get(kind, name);
    const finalizers = (object?.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
    await this.rig.patch(kind, name, { finalizers });
  }
}

/** Something that a collector has to see through, whatever happens to it meanwhile. */
export interface Scenario {
  readonly name: string;
  /** Resources of the server: few, so that a start is few calls. */
  readonly serve: readonly TestKind[];
  /** Of kinds without a type, as a CustomResourceDefinition serves them. */
  readonly custom?: readonly TestKind[];
  /** Before any collector runs. */
  readonly prepare: (client: Client) => Promise<void>;
  /** While one runs; it comes to rest after each. */
  readonly steps: readonly ((client: Client) => Promise<void>)[];
  /** What is there in the end, `Kind namespace/name <- owners` each. */
  readonly left: readonly string[];
}

const small: readonly TestKind[] = [configMap, secret, namespace];

/** owner <- child <- grandchild, and an object that somebody else owns. Answers with the owner. */
async function chain(client: Client): Promise<KubeObject> {
  const owner = await client.create(configMap, 'owner');
  const child = await client.create(secret, 'child', { owners: [refTo(owner, { block: true })] });
  await client.create(configMap, 'grandchild', { owners: [refTo(child, { block: true })] });
  const other = await client.create(configMap, 'other');
  await client.create(secret, 'unconcerned', { owners: [refTo(other)] });
  return owner;
}

const unconcerned = ['ConfigMap default/other', 'Secret default/unconcerned <- other'];

export const scenarios: readonly Scenario[] = [
  {
    name: 'a chain in background',
    serve: small,
    prepare: async (client) => void (await chain(client)),
    steps: [(client) => client.delete(configMap, 'owner', 'Background')],
    left: unconcerned,
  },
  {
    name: 'a chain in background, deleted while nobody was there',
    serve: small,
    prepare: async (client) => {
      await chain(client);
      await client.delete(configMap, 'owner', 'Background');
    },
    steps: [],
    left: unconcerned,
  },
  {
    name: 'foreground with blockers, one of them held by a finalizer',
    serve: small,
    prepare: async (client) => {
      const owner = await chain(client);
      const owners = [refTo(owner, { block: true })];
      await client.create(secret, 'held', { owners, finalizers: [HOLD] });
      await client.create(secret, 'free', { owners: [refTo(owner)] });
    },
    steps: [(client) => client.delete(configMap, 'owner', 'Foreground'), (client) => client.letGo(secret, 'held')],
    left: unconcerned,
  },
  {
    name: 'orphaning, one level deep',
    serve: small,
    prepare: async (client) => {
      const owner = await chain(client);
      for (const name of ['second', 'third']) await client.create(secret, name, { owners: [refTo(owner)] });
    },
    steps: [(client) => client.delete(configMap, 'owner', 'Orphan')],
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
    prepare: async (client) => {
      const owner = await client.create(configMap, 'owner', { finalizers: [HOLD] });
      await client.create(secret, 'child', { owners: [refTo(owner)] });
    },
    steps: [(client) => client.delete(configMap, 'owner', 'Orphan'), (client) => client.letGo(configMap, 'owner')],
    left: ['Secret default/child'],
  },
  {
    name: 'a circle, deleted in foreground',
    serve: small,
    prepare: async (client) => {
      const owner = await client.create(configMap, 'owner');
      const child = await client.create(secret, 'child', { owners: [refTo(owner, { block: true })] });
      const grandchild = await client.create(configMap, 'grandchild', { owners: [refTo(child, { block: true })] });
      await client.rig.patch(configMap, 'owner', { ownerReferences: [refTo(grandchild, { block: true })] });
    },
    steps: [(client) => client.delete(configMap, 'owner', 'Foreground')],
    left: [],
  },
  {
    name: 'two owners, of which one goes in foreground',
    serve: small,
    prepare: async (client) => {
      const owner = await client.create(configMap, 'owner');
      const other = await client.create(configMap, 'other');
      const both = [refTo(owner, { block: true }), refTo(other, { block: true })];
      await client.create(secret, 'both', { owners: both });
      await client.create(secret, 'own', { owners: [refTo(owner, { block: true })] });
    },
    steps: [(client) => client.delete(configMap, 'owner', 'Foreground')],
    left: ['ConfigMap default/other', 'Secret default/both <- other'],
  },
  {
    name: 'two owners, both of which go',
    serve: small,
    prepare: async (client) => {
      const owners = [await client.create(configMap, 'owner'), await client.create(configMap, 'other')];
      await client.create(secret, 'both', { owners: owners.map((each) => refTo(each, { block: true })) });
    },
    steps: [
      async (client) => {
        await client.delete(configMap, 'owner', 'Foreground');
        await client.delete(configMap, 'other', 'Background');
      },
    ],
    left: [],
  },
  {
    name: 'an owner in another namespace, which is none',
    serve: small,
    prepare: async (client) => {
      await client.create(namespace, 'n2');
      const owner = await client.create(configMap, 'owner');
      await client.create(secret, 'near', { owners: [refTo(owner)] });
      await client.create(secret, 'far', { owners: [refTo(owner)], namespace: 'n2' });
    },
    steps: [async (client) => void (await client.create(secret, 'late', { namespace: 'n2' }))],
    left: ['ConfigMap default/owner', 'Secret default/near <- owner', 'Secret n2/late'],
  },
  {
    name: 'a cluster-scoped owner of dependents everywhere',
    serve: [...small, clusterRole],
    prepare: async (client) => {
      await client.create(namespace, 'n2');
      const owner = await client.create(clusterRole, 'owner');
      await client.create(secret, 'here', { owners: [refTo(owner, { block: true })] });
      await client.create(secret, 'there', { owners: [refTo(owner, { block: true })], namespace: 'n2' });
      await client.create(clusterRole, 'role', { owners: [refTo(owner)] });
    },
    steps: [(client) => client.delete(clusterRole, 'owner', 'Foreground')],
    left: [],
  },
  {
    name: 'custom objects, which take no strategic merge patch',
    serve: small,
    custom: [widget],
    prepare: async (client) => {
      const owner = await client.create(widget, 'owner');
      const other = await client.create(widget, 'other');
      await client.create(widget, 'both', { owners: [refTo(owner, { block: true }), refTo(other)] });
      await client.create(widget, 'own', { owners: [refTo(owner, { block: true })] });
    },
    steps: [(client) => client.delete(widget, 'owner', 'Foreground')],
    left: ['Widget default/both <- other', 'Widget default/other'],
  },
  {
    name: 'custom objects, orphaned by a dependent that asked for it before',
    serve: small,
    custom: [widget],
    prepare: async (client) => {
      const owner = await client.create(widget, 'owner');
      const wish = await client.create(widget, 'wish', { finalizers: ['orphan'], owners: [refTo(owner)] });
      for (const name of ['one', 'two']) await client.create(widget, name, { owners: [refTo(wish)] });
    },
    steps: [(client) => client.delete(widget, 'owner', 'Background')],
    left: ['Widget default/one', 'Widget default/two'],
  },
  {
    name: 'owners that never were, under several names',
    serve: small,
    prepare: async (client) => {
      const one = refToNothing(configMap, 'never');
      await client.create(secret, 'one', { owners: [one] });
      await client.create(secret, 'two', { owners: [{ ...one, kind: 'Secret' }] });
      const living = await client.create(configMap, 'living');
      await client.create(secret, 'misled', { owners: [refTo(living, { name: 'another' })] });
      await client.create(secret, 'kept', { owners: [refTo(living), refToNothing(secret, 'gone')] });
    },
    steps: [],
    left: ['ConfigMap default/living', 'Secret default/kept <- living'],
  },
];
