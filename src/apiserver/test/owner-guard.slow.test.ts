import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { OwnerGuard } from '../registry/resource-store.ts';
import type { Store } from '../storage/interface.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { systemClock } from '../../base/time/clock.ts';
import { type Answer, configMaps, startTestServer, type TestServer } from './test-server.ts';

const CONTROLLERS = 'system:kube-controller-manager';
const owners = '/apis/apps/v1/namespaces/default/deployments';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const MERGE = 'application/merge-patch+json';
const labels = { app: 'web' };
const deployment = {
  metadata: { name: 'web', finalizers: ['example.com/hold'] },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

const byHeader: Authenticator = {
  authenticate: ({ headers }) => ({ username: String(headers['x-user'] ?? 'ann'), groups: ['system:masters'] }),
};

let server: TestServer;

/** A store that counts reads, and lets a test act directly before a write. */
class WatchedStore {
  readonly reads: string[] = [];
  beforeWrite: (() => Promise<unknown>) | undefined;
  readonly store: Store;

  constructor() {
    const inner = openMemoryStore({ clock: systemClock });
    const act = async (): Promise<void> => {
      const before = this.beforeWrite;
      this.beforeWrite = undefined;
      await before?.();
    };
    this.store = Object.assign(Object.create(inner) as Store, {
      get: (key: string) => {
        this.reads.push(key);
        return inner.get(key);
      },
      list: inner.list.bind(inner),
      watch: inner.watch.bind(inner),
      delete: inner.delete.bind(inner),
      currentRevision: inner.currentRevision.bind(inner),
      compact: inner.compact.bind(inner),
      close: inner.close.bind(inner),
      create: async (...given: Parameters<Store['create']>) => {
        await act();
        return inner.create(...given);
      },
      update: async (...given: Parameters<Store['update']>) => {
        await act();
        return inner.update(...given);
      },
    } satisfies Store);
  }
}

async function start(ownerGuard: OwnerGuard | undefined, store?: Store): Promise<void> {
  server = await startTestServer({
    authenticator: byHeader,
    ...(ownerGuard === undefined ? {} : { ownerGuard }),
    ...(store === undefined ? {} : { store }),
  });
}

const as = (user: string, method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> =>
  server.request(method, path, {
    headers: { 'x-user': user, 'content-type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const referenceTo = (uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'web',
  uid,
  controller: true,
  ...more,
});

/** A dependent and its owner, under names of their own. */
interface Pair {
  readonly owner: string;
  readonly name: string;
}

/** Each returns the uid that the dependent names. */
const ownerStates = {
  living: ({ owner }: Pair) => createdOwner(owner),
  absent: async () => OTHER_UID,
  'another of the name': async ({ owner }: Pair) => {
    await createdOwner(owner);
    return OTHER_UID;
  },
  'deleted with orphan': ({ owner }: Pair) => deletedOwner(owner, 'Orphan'),
  'deleted in the foreground': ({ owner }: Pair) => deletedOwner(owner, 'Foreground'),
  'deleted in the background': ({ owner }: Pair) => deletedOwner(owner, 'Background'),
} as const;
type OwnerState = keyof typeof ownerStates;
const refusing: ReadonlySet<OwnerState> = new Set(['absent', 'another of the name', 'deleted with orphan']);

const OTHER_UID = '11111111-2222-4333-8444-555555555555';
const uidOf = ({ json }: Answer): string => json.metadata?.uid ?? '';

async function createdOwner(name = 'web'): Promise<string> {
  const { metadata, spec } = deployment;
  return uidOf(await as('ann', 'POST', owners, { metadata: { ...metadata, name }, spec }));
}

async function deletedOwner(name: string, propagationPolicy: string): Promise<string> {
  const uid = await createdOwner(name);
  await as('ann', 'DELETE', `${owners}/${name}`, { propagationPolicy });
  return uid;
}

const dependent = (name = 'm') => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const withOwner = (reference: OwnerReference, name = 'm') => ({
  ...dependent(name),
  metadata: { name, ownerReferences: [reference] },
});

interface Write extends Pair {
  readonly user: string;
  readonly reference: OwnerReference;
  readonly dryRun: 'dryRun=All' | '';
}

/** Each adds the reference; those that change an object make it first, as ann. */
const writes = {
  create: ({ user, reference, name, dryRun }: Write) =>
    as(user, 'POST', `${configMaps}?${dryRun}`, withOwner(reference, name)),
  'create by apply': (write: Write) => writes.apply(write, 'absent'),
  'create by put': ({ user, reference, name, dryRun }: Write) =>
    as(user, 'PUT', `${leases}/${name}?${dryRun}`, {
      ...withOwner(reference, name),
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
    }),
  put: async ({ user, reference, name, dryRun }: Write) => {
    await as('ann', 'POST', configMaps, dependent(name));
    return as(user, 'PUT', `${configMaps}/${name}?${dryRun}`, withOwner(reference, name));
  },
  patch: async ({ user, reference, name, dryRun }: Write) => {
    await as('ann', 'POST', configMaps, dependent(name));
    const patch = { metadata: { ownerReferences: [reference] } };
    return as(user, 'PATCH', `${configMaps}/${name}?${dryRun}`, patch, MERGE);
  },
  apply: async ({ user, reference, name, dryRun }: Write, before: 'stored' | 'absent' = 'stored'): Promise<Answer> => {
    if (before === 'stored') await as('ann', 'POST', configMaps, dependent(name));
    const path = `${configMaps}/${name}?fieldManager=f&${dryRun}`;
    return as(user, 'PATCH', path, withOwner(reference, name), 'application/apply-patch+yaml');
  },
} as const;

const cases = (Object.keys(ownerStates) as OwnerState[]).flatMap((state) =>
  (Object.keys(writes) as (keyof typeof writes)[]).flatMap((write) =>
    [CONTROLLERS, 'ann'].map((user) => ({ state, write, user })),
  ),
);

describe.each([undefined, 'off', 'controllers', 'all'] as const)('the guard of owners, set to %s', (guard) => {
  beforeAll(() => start(guard));
  afterAll(() => server.server.stop());
  let count = 0;

  it.each(cases)('LIFE-566 owner $state, $write by $user', async ({ state, write, user }) => {
    const pair = { owner: `owner-${count}`, name: `dependent-${count++}` };
    const uid = await ownerStates[state](pair);
    const isGuarded = guard === 'all' || (guard !== 'off' && user === CONTROLLERS);
    const isRefused = isGuarded && refusing.has(state);
    const reference = referenceTo(uid, { name: pair.owner });
    const path = write === 'create by put' ? leases : configMaps;
    for (const dryRun of ['dryRun=All', ''] as const) {
      const { status, json } = await writes[write]({ ...pair, user, reference, dryRun });
      if (isRefused) {
        const resource = write === 'create by put' ? 'leases.coordination.k8s.io' : 'configmaps';
        expect(json).toMatchObject({
          code: 409,
          reason: 'Conflict',
          message: `Operation cannot be fulfilled on ${resource} "${pair.name}": owner Deployment/${pair.owner} is being orphaned`,
        });
      } else {
        expect(status).toBe(write.startsWith('create') ? 201 : 200);
        expect(json.metadata?.ownerReferences).toEqual([reference]);
      }
    }
    const { json } = await as('ann', 'GET', `${path}/${pair.name}`);
    expect(json.metadata?.ownerReferences).toEqual(isRefused ? undefined : [reference]);
  });
});

describe('the guard of owners', () => {
  afterEach(() => server.server.stop());
  const racing = {
    create: (uid: string) => as(CONTROLLERS, 'POST', configMaps, withOwner(referenceTo(uid))),
    put: async (uid: string) => as(CONTROLLERS, 'PUT', `${configMaps}/m`, withOwner(referenceTo(uid))),
  };
  const raced = ['create', 'put'] as const;

  it('LIFE-566 costs no read for a write that adds no controller', async () => {
    const watched = new WatchedStore();
    await start('all', watched.store);
    const uid = await createdOwner();
    const readsDuring = async (write: Promise<Answer>): Promise<number> => {
      watched.reads.length = 0;
      expect((await write).status).toBeLessThan(300);
      return watched.reads.filter((key) => key === '/registry/apps/deployments/default/web').length;
    };
    const patch = (body: object) => as('ann', 'PATCH', `${configMaps}/m`, body, MERGE);
    const plain = withOwner(referenceTo(uid, { controller: false }));
    expect(await readsDuring(as('ann', 'POST', configMaps, plain))).toBe(0);
    expect(await readsDuring(patch({ data: { a: 'b' } }))).toBe(0);
    expect(await readsDuring(patch({ metadata: { ownerReferences: [referenceTo(uid)] } }))).toBe(1);
    // The controller is there already, so that its deletion does not hinder other changes.
    await as('ann', 'DELETE', `${owners}/web`, { propagationPolicy: 'Orphan' });
    expect(await readsDuring(patch({ data: { a: 'c' } }))).toBe(0);
  });

  it.each(raced)('LIFE-566 a %s is refused if the owner is orphaned between its read and the write', async (write) => {
    const watched = new WatchedStore();
    await start('controllers', watched.store);
    const uid = await createdOwner();
    if (write === 'put') await as('ann', 'POST', configMaps, dependent());
    watched.beforeWrite = () => as('ann', 'DELETE', `${owners}/web`, { propagationPolicy: 'Orphan' });
    const { status } = await racing[write](uid);
    expect([status, watched.beforeWrite]).toEqual([409, undefined]);
    expect((await as('ann', 'GET', `${configMaps}/m`)).json.metadata?.ownerReferences).toBeUndefined();
  });

  it.each(raced)('LIFE-566 a %s reads the owner again if that changes otherwise meanwhile', async (write) => {
    const watched = new WatchedStore();
    await start('controllers', watched.store);
    const uid = await createdOwner();
    if (write === 'put') await as('ann', 'POST', configMaps, dependent());
    const patch = { metadata: { annotations: { changed: 'yes' } } };
    watched.beforeWrite = () => as('ann', 'PATCH', `${owners}/web`, patch, MERGE);
    const { status } = await racing[write](uid);
    expect([status, watched.beforeWrite]).toEqual([write === 'create' ? 201 : 200, undefined]);
  });

  it('LIFE-566 a create gives up when the owner changes before each of a hundred attempts', async () => {
    const watched = new WatchedStore();
    await start('all', watched.store);
    const uid = await createdOwner();
    let changes = 0;
    const changeOwner = async (): Promise<void> => {
      const patch = { metadata: { annotations: { changed: String(changes++) } } };
      await as('ann', 'PATCH', `${owners}/web`, patch, MERGE);
      watched.beforeWrite = changeOwner;
    };
    watched.beforeWrite = changeOwner;
    const { json } = await racing.create(uid);
    watched.beforeWrite = undefined;
    expect(json).toMatchObject({ code: 500, reason: 'ServerTimeout' });
    expect(changes).toBe(100);
    expect((await as('ann', 'GET', `${configMaps}/m`)).status).toBe(404);
  });

  it('LIFE-566 does not judge an owner of a kind that is not served', async () => {
    await start('all');
    const unknown = referenceTo('1-1', { apiVersion: 'example.com/v1', kind: 'Thing' });
    expect((await as('ann', 'POST', configMaps, withOwner(unknown))).status).toBe(201);
  });

  it('LIFE-566 finds a cluster-scoped owner, and takes a namespaced owner of a cluster-scoped object as absent', async () => {
    await start('all');
    const node = uidOf(await as('ann', 'POST', '/api/v1/nodes', { metadata: { name: 'n' } }));
    const toNode = referenceTo(node, { apiVersion: 'v1', kind: 'Node', name: 'n' });
    expect((await as('ann', 'POST', configMaps, withOwner(toNode))).status).toBe(201);
    const uid = await createdOwner();
    const other = { metadata: { name: 'o', ownerReferences: [referenceTo(uid)] } };
    expect((await as('ann', 'POST', '/api/v1/nodes', other)).status).toBe(409);
  });
});
