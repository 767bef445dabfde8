import { describe, expect, it } from 'vitest';
import type { GraphView, Vertex } from './dump.ts';
import { graphAsJson, graphAsMermaid, graphAsTree } from './dump-people.ts';

const vertex = (kind: string, name: string, marks: Partial<Vertex> = {}): [string, Vertex] => [
  `${name}-uid`,
  {
    identity: { apiVersion: 'v1', kind, name, namespace: kind === 'Node' ? '' : 'shop', uid: `${name}-uid` },
    missing: false,
    virtual: false,
    beingDeleted: false,
    deletingDependents: false,
    ...marks,
  },
];
const view: GraphView = {
  vertices: new Map([
    vertex('Pod', 'web-b'),
    vertex('Pod', 'web-a', { beingDeleted: true }),
    vertex('Deployment', 'web', { beingDeleted: true, deletingDependents: true }),
    vertex('ReplicaSet', 'web-1'),
    vertex('Secret', 'stray'),
    vertex('Node', 'gone', { missing: true }),
    vertex('Ring', 'one'),
    vertex('Ring', 'two'),
  ]),
  owners: new Map([
    ['web-1-uid', new Set(['web-uid'])],
    ['web-a-uid', new Set(['web-1-uid'])],
    ['web-b-uid', new Set(['web-1-uid', 'gone-uid'])],
    ['stray-uid', new Set(['gone-uid'])],
    ['one-uid', new Set(['two-uid'])],
    ['two-uid', new Set(['one-uid'])],
  ]),
};

describe('the debug graph for people', () => {
  it('COL-181 is a tree with kind and name first and the uid last; cycles end, and an object of two owners stands below both', () => {
    expect(graphAsTree(view)).toBe(`Deployment/web -n shop  [terminating, waits for dependents]  web-uid
└─ ReplicaSet/web-1 -n shop  web-1-uid
   ├─ Pod/web-a -n shop  [terminating]  web-a-uid
   └─ Pod/web-b -n shop  web-b-uid
Node/gone  [missing]  gone-uid
├─ Pod/web-b -n shop  (its dependents are shown above)  web-b-uid
└─ Secret/stray -n shop  stray-uid
Ring/one -n shop  one-uid
└─ Ring/two -n shop  two-uid
   └─ Ring/one -n shop  (its dependents are shown above)  one-uid
`);
    expect(graphAsTree({ vertices: new Map(), owners: new Map() })).toBe('No object has an owner.\n');
  });

  it('COL-181 is plain data', () => {
    const { nodes, edges } = JSON.parse(graphAsJson(view)) as { nodes: unknown[]; edges: unknown[] };
    expect(nodes).toHaveLength(8);
    expect(nodes[0]).toEqual({
      kind: 'Deployment',
      name: 'web',
      namespace: 'shop',
      apiVersion: 'v1',
      marks: ['terminating', 'waits for dependents'],
      uid: 'web-uid',
    });
    expect(edges).toContainEqual({ from: 'web-1-uid', to: 'web-uid' });
    expect(edges).toHaveLength(7);
  });

  it('COL-181 is a flowchart with arrows from owner to dependent', () => {
    const lines = graphAsMermaid(view).split('\n');
    expect(lines[0]).toBe('flowchart TD');
    expect(lines[1]).toBe('  n0["Deployment/web -n shop  [terminating, waits for dependents]"]');
    expect(lines.filter((line) => line.includes('-->'))).toHaveLength(7);
  });
});
