import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { explore, type End, type ExploreOptions, type Incident } from './testing/interleavings.ts';
import { SmallServer, type ServedResource } from './testing/small-server.ts';

const SERVED: readonly ServedResource[] = [
  { resource: 'pods', kind: 'Pod', apiVersions: ['v1'], namespaced: true },
  { resource: 'secrets', kind: 'Secret', apiVersions: ['v1'], namespaced: true },
  { resource: 'nodes', kind: 'Node', apiVersions: ['v1'], namespaced: false },
  { resource: 'deployments', kind: 'Deployment', apiVersions: ['apps/v1'], namespaced: true },
  { resource: 'roles', kind: 'Role', apiVersions: ['rbac/v1', 'rbac/v1beta1'], namespaced: true },
];

interface Given {
  readonly uid: string;
  readonly resource?: string;
  /** `ns1` unless given; nothing for Nodes. */
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

function serverWith(objects: readonly Given[]): SmallServer {
  return objects.reduce((server, { uid, resource = 'pods', namespace, owners = [], finalizers = [] }) => {
    const at = resource === 'nodes' ? '' : (namespace ?? 'ns1');
    return server.with({ resource, namespace: at, name: uid, uid, references: owners, finalizers, deleting: false });
  }, new SmallServer(SERVED));
}

/** A reference to the object of that uid and name. */
function to(uid: string, kind = 'Pod', apiVersion = 'v1', change: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion, kind, name: uid, uid, ...change };
}

function blocking(uid: string): OwnerReference {
  return to(uid, 'Pod', 'v1', { blockOwnerDeletion: true });
}

function removal(uid: string, policy: 'Background' | 'Foreground' | 'Orphan' = 'Background'): Incident {
  return {
    name: `delete ${uid} ${policy}`,
    happen: (server) => {
      const object = server.objects.get(uid);
      if (object === undefined) return server;
      const kind = server.monitored(object.resource);
      return server.delete({ ...object, ...kind }, policy, { uid }).server;
    },
  };
}

function edit(uid: string, owners: readonly OwnerReference[]): Incident {
  return { name: `edit ${uid}`, happen: (server) => server.edit(uid, owners) };
}

function end(objects: string, rest: Partial<End> = {}): End {
  return { objects, backedOff: '', reports: '', ...rest };
}

/** Every history ends in one of these, and none deletes an object that it must keep. */
function expectEnds(
  objects: readonly Given[],
  expected: readonly End[],
  { steps = 'fine', ...rest }: Partial<ExploreOptions> = {},
): void {
  const { ends, violations, states } = explore(serverWith(objects), { steps, ...rest });
  expect(violations).toEqual([]);
  expect(ends).toEqual(expected);
  expect(states).toBeGreaterThan(objects.length);
}

const deployment = { uid: 'd', resource: 'deployments' };
const toDeployment = to('d', 'Deployment', 'apps/v1');
const toUnserved = to('d', 'Deployment', 'extensions/v1beta1');
const wrongKind = to('d', 'Secret', 'v1', { name: 'secret' });
/** A Pod in the other namespace that is the owner meant by `to('far')`. */
const far = { uid: 'far', namespace: 'ns2' };

describe('COL-07A, COL-002 conflicting data, in every order of events, reads and writes', () => {
  it.each<[string, readonly Given[], readonly End[], (readonly Incident[])?]>([
    [
      '1 a child and its cluster-scoped owner',
      [
        { uid: 'n', resource: 'nodes' },
        { uid: 'a', owners: [to('n', 'Node')] },
      ],
      [end('a n')],
    ],
    [
      '2, 3 a child in ns1 of an owner in ns2 (COL-140, COL-143)',
      [far, { uid: 'a', owners: [to('far')] }],
      [end('far'), end('far', { reports: 'a->far' })],
    ],
    [
      '4, 5 a cluster-scoped child of an owner in ns1 (COL-113, COL-141)',
      [{ uid: 'o' }, { uid: 'n', resource: 'nodes', owners: [to('o')] }],
      [end('n o', { reports: 'n->o' })],
    ],
    [
      '6 a child that names its owner in another served version (COL-079, COL-117)',
      [
        { uid: 'r', resource: 'roles' },
        { uid: 'a', owners: [to('r', 'Role', 'rbac/v1beta1')] },
      ],
      [end('a r')],
    ],
    [
      '6 … and the owner goes',
      [
        { uid: 'r', resource: 'roles' },
        { uid: 'a', owners: [to('r', 'Role', 'rbac/v1beta1')] },
      ],
      [end('')],
      [removal('r')],
    ],
    [
      '7, 8 a child that names an existing owner in a version that is not served (COL-118)',
      [deployment, { uid: 'a', owners: [toUnserved] }],
      [end('a d', { backedOff: 'a' })],
    ],
    [
      '7, 8 … and the owner goes',
      [deployment, { uid: 'a', owners: [toUnserved] }],
      [end('a', { backedOff: 'a' }), end('a', { backedOff: 'd' })],
      [removal('d')],
    ],
    [
      '9, 10 children of a missing owner, one of them in a version that is not served (COL-119)',
      [
        { uid: 'a', owners: [toUnserved] },
        { uid: 'b', owners: [toDeployment] },
      ],
      [end('a', { backedOff: 'a d' }), end('a', { backedOff: 'a' }), end('a', { backedOff: 'd' })],
    ],
    [
      '11, 12, 13 a bad child that gives the owner’s uid another kind, and a good one (COL-24A)',
      [deployment, { uid: 'bad', owners: [wrongKind] }, { uid: 'good', owners: [toDeployment] }],
      [end('d good')],
    ],
    [
      '14, 16 a cluster-scoped and a namespaced child of a missing owner (COL-24B)',
      [
        { uid: 'n', resource: 'nodes', owners: [to('missing')] },
        { uid: 'a', owners: [to('missing')] },
      ],
      [end('n')],
    ],
    [
      '15 a cluster-scoped and a namespaced child of an owner that is seen late',
      [{ uid: 'o' }, { uid: 'n', resource: 'nodes', owners: [to('o')] }, { uid: 'a', owners: [to('o')] }],
      // There is no report if the dependent in ns1 has shown the owner's identity before (COL-073).
      [end('a n o'), end('a n o', { reports: 'n->o' })],
    ],
    [
      '17 the references change between the decision and the delete (COL-150, COL-152)',
      [{ uid: 'o' }, { uid: 'p' }, { uid: 'a', owners: [to('o')] }],
      [end('a p'), end('p')],
      [removal('o'), edit('a', [to('p')])],
    ],
  ])('%s', (_, objects, expected, incidents = []) => {
    expectEnds(objects, expected, { incidents });
  });
});

describe('the edge cases, in every order', () => {
  it.each<[string, readonly Given[], readonly End[], (readonly Incident[])?]>([
    [
      'COL-240 the right name with a wrong uid',
      [{ uid: 'o' }, { uid: 'a', owners: [to('x', 'Pod', 'v1', { name: 'o' })] }],
      [end('o')],
    ],
    [
      'COL-241 the right uid with a wrong name; siblings stay',
      [{ uid: 'o' }, { uid: 'a', owners: [to('o', 'Pod', 'v1', { name: 'x' })] }, { uid: 'b', owners: [to('o')] }],
      [end('b o')],
    ],
    [
      'COL-243 re-parented before or after the owner goes: the dependent lives unless it was too late',
      [{ uid: 'o' }, { uid: 'p' }, { uid: 'a', owners: [to('o')] }],
      [end('a p'), end('p')],
      [edit('a', [to('p')]), removal('o')],
    ],
    [
      'COL-245 a reference to a deleted owner is added',
      [{ uid: 'o' }, { uid: 'a' }],
      [end('')],
      [removal('o'), edit('a', [to('o')])],
    ],
    [
      'COL-246, COL-24H one dangling and one solid owner: the object lives',
      [{ uid: 'o' }, { uid: 'a', owners: [to('x'), to('o')] }],
      [end('a o')],
    ],
    [
      'COL-24H two references to one living uid, one with a wrong name: the object lives',
      [{ uid: 'o' }, { uid: 'a', owners: [to('o'), to('o', 'Pod', 'v1', { name: 'x' })] }],
      [end('a o')],
    ],
    [
      'COL-249 a dependent with a foreign finalizer stays, terminating',
      [{ uid: 'o' }, { uid: 'a', owners: [to('o')], finalizers: ['x/y'] }],
      [end('a!')],
      [removal('o')],
    ],
    [
      'COL-24C references that cannot be resolved: the object stays',
      [{ uid: 'a', owners: [to('x', 'Widget', 'example.com/v1')] }],
      [end('a', { backedOff: 'x' })],
    ],
    [
      'COL-24D an island cycle stays',
      [
        { uid: 'a', owners: [to('b')] },
        { uid: 'b', owners: [to('a')] },
      ],
      [end('a b')],
    ],
    [
      'COL-24D … until a member is deleted',
      [
        { uid: 'a', owners: [to('b')] },
        { uid: 'b', owners: [to('a')] },
      ],
      [end('')],
      [removal('a')],
    ],
    [
      'COL-11A, COL-24I a cluster-scoped child of a living owner, named first by a dependent in another namespace',
      [
        { uid: 'o' },
        { uid: 'n', resource: 'nodes', owners: [to('o')] },
        { uid: 'a', namespace: 'ns2', owners: [to('n', 'Node')] },
      ],
      [end('a n o', { reports: 'n->o' })],
    ],
  ])('%s', (_, objects, expected, incidents = []) => {
    expectEnds(objects, expected, { incidents });
  });
});

describe('deletes with a policy, in every order', () => {
  const FOREGROUND = 'Foreground';

  it('COL-101, COL-104 foreground: blocking and other dependents go, then the owner', () => {
    const objects = [{ uid: 'o' }, { uid: 'a', owners: [blocking('o')] }, { uid: 'b', owners: [to('o')] }];
    expectEnds(objects, [end('')], { incidents: [removal('o', FOREGROUND)], steps: 'coarse' });
  });

  it('COL-105 foreground: a dependent with another owner stays', () => {
    const objects = [{ uid: 'o' }, { uid: 'p' }, { uid: 'a', owners: [blocking('o'), blocking('p')] }];
    expectEnds(objects, [end('a p')], { incidents: [removal('o', FOREGROUND)] });
  });

  it('COL-107 foreground: all four of a diamond go', () => {
    const objects = [
      { uid: 'a' },
      { uid: 'b', owners: [blocking('a')] },
      { uid: 'c', owners: [blocking('a')] },
      { uid: 'd', owners: [blocking('b'), blocking('c')] },
    ];
    expectEnds(objects, [end('')], {
      incidents: [removal('a', FOREGROUND)],
      steps: 'coarse',
      synced: true,
      watches: 'inOrder',
    });
  });

  it('COL-10C foreground: a cycle of two members that block each other goes', () => {
    const objects = [
      { uid: 'a', owners: [blocking('b')] },
      { uid: 'b', owners: [blocking('a')] },
    ];
    expectEnds(objects, [end('')], { incidents: [removal('a', FOREGROUND)] });
  });

  it('COL-10C foreground: a cycle whose members are deleted at the same time goes, too', () => {
    const objects = [
      { uid: 'a', owners: [blocking('b')] },
      { uid: 'b', owners: [blocking('a')] },
    ];
    expectEnds(objects, [end('')], {
      incidents: [removal('a', FOREGROUND), removal('b', FOREGROUND)],
      steps: 'coarse',
    });
  });

  it('COL-10C foreground: a cycle of three members that block each other goes', () => {
    const uids = ['a', 'b', 'c'];
    const objects = uids.map((uid, i) => ({ uid, owners: [blocking(uids[(i + 1) % uids.length]!)] }));
    expectEnds(objects, [end('')], { incidents: [removal('a', FOREGROUND)], synced: true });
  });

  it('COL-10D, BETTER-10 foreground: an object that blocks itself goes', () => {
    expectEnds([{ uid: 'a', owners: [blocking('a')] }], [end('')], { incidents: [removal('a', FOREGROUND)] });
  });

  it('COL-10E a cycle below the root stays', () => {
    const objects = [{ uid: 'a' }, { uid: 'b', owners: [to('a'), to('c')] }, { uid: 'c', owners: [to('b')] }];
    expectEnds(objects, [end('b c')], { incidents: [removal('a')], steps: 'coarse' });
  });

  it('COL-24E a dependent with the finalizer ORPHAN orphans its own', () => {
    const objects = [
      { uid: 'o' },
      { uid: 'a', owners: [to('o')], finalizers: ['orphan'] },
      { uid: 'b', owners: [to('a')] },
    ];
    expectEnds(objects, [end('b')], { incidents: [removal('o')], synced: true });
  });

  it('COL-122, COL-125 orphan: dependents that were seen stay', () => {
    const objects = [{ uid: 'o' }, { uid: 'a', owners: [to('o')] }];
    const { ends, violations } = explore(serverWith(objects), { incidents: [removal('o', 'Orphan')], steps: 'fine' });
    expect(violations).toEqual([]);
    // Without the barrier, a dependent that was not seen yet is collected (COL-127).
    expect(ends).toEqual([end(''), end('a')]);
  });

  it('COL-10F foreground, then background: the owner goes at once, its dependents too', () => {
    const objects = [{ uid: 'o' }, { uid: 'a', owners: [blocking('o')] }];
    expectEnds(objects, [end('')], { incidents: [removal('o', FOREGROUND), removal('o')] });
  });

  it('COL-107 three levels in foreground', () => {
    const objects = [{ uid: 'a' }, { uid: 'b', owners: [blocking('a')] }, { uid: 'c', owners: [blocking('b')] }];
    expectEnds(objects, [end('')], { incidents: [removal('a', FOREGROUND)], synced: true });
  });
});
