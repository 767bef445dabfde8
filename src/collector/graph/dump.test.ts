import { describe, expect, it } from 'vitest';
import { apply } from './apply.ts';
import { dumpGraph } from './dump.ts';
import type { GraphEvent } from '../types/event.ts';
import { OwnershipGraph } from './ownership-graph.ts';
import { deleted, observed, pods, ref, replicaSets } from './testing/events.ts';

function graphOf(...events: GraphEvent[]): OwnershipGraph {
  const graph = new OwnershipGraph();
  for (const event of events) apply(graph, event, []);
  return graph;
}

/** The vertices and edges of a dump, without attributes. */
function shape(text: string): { vertices: string[]; edges: string[] } {
  const lines = text.split('\n');
  return {
    vertices: lines.filter((line) => line.endsWith(' [')).map((line) => line.trim().slice(1, -3)),
    edges: lines.filter((line) => line.includes(' -> ')).map((line) => line.trim()),
  };
}

describe('dumpGraph', () => {
  it('COL-184 an empty graph is the first and the last line', () => {
    expect(dumpGraph(new OwnershipGraph())).toBe('strict digraph full {\n}\n');
  });

  it('COL-184...COL-187 nodes by uid, then edges, every attribute on a line of its own', () => {
    const graph = graphOf(
      observed(replicaSets, { uid: 'b', name: 'rs', deleting: true, finalizers: ['foregroundDeletion'] }),
      observed(pods, {
        uid: 'a',
        owners: [ref('b', { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' }), ref('c')],
      }),
    );
    expect(dumpGraph(graph)).toBe(`strict digraph full {
  // Node definitions.
  "a" [
    label="uid=a\\nnamespace=ns\\nPod.v1/a\\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="ns"
    name="a"
    uid="a"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "b" [
    label="uid=b\\nnamespace=ns\\nReplicaSet.v1.apps/rs\\nbeingDeleted,deletingDependents\\n"
    group="apps"
    version="v1"
    kind="ReplicaSet"
    namespace="ns"
    name="rs"
    uid="b"
    missing="false"
    beingDeleted="true"
    deletingDependents="true"
    virtual="false"
  ];
  "c" [
    label="uid=c\\nnamespace=ns\\nPod.v1/c\\nvirtual\\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="ns"
    name="c"
    uid="c"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="true"
  ];
  // Edge definitions.
  "a" -> "b";
  "a" -> "c";
}
`);
  });

  it('COL-188 texts are quoted as Go quotes them', () => {
    const uid = 'u-[]"\\ñ,🐹\n\u0001\u00ad';
    const graph = graphOf(
      observed({ apiVersion: 'g/v', kind: 'K-ñ,🐹', resource: 'ks' }, { uid, name: 'n"' }),
      observed(pods, { uid: 'a', owners: [ref(uid, { name: 'n"' })] }),
    );
    const text = dumpGraph(graph);
    expect(text).toContain('  "u-[]\\"\\\\ñ,🐹\\n\\x01\\u00ad" [\n');
    expect(text).toContain('    label="uid=u-[]\\"\\\\ñ,🐹\\n\\x01\\u00ad\\nnamespace=ns\\nK-ñ,🐹.v.g/n\\"\\n"\n');
    expect(text).toContain('    name="n\\""\n');
    expect(text).toContain('  "a" -> "u-[]\\"\\\\ñ,🐹\\n\\x01\\u00ad";\n');
  });

  it('COL-182 nodes with neither references nor dependents are left out', () => {
    const graph = graphOf(observed(pods, { uid: 'echo' }), observed(pods, { uid: 'a', owners: [ref('b')] }));
    expect(shape(dumpGraph(graph))).toEqual({ vertices: ['a', 'b'], edges: ['"a" -> "b";'] });
  });

  it('COL-189, BETTER-20 a uid without node is one vertex, however many refer to it', () => {
    const graph = graphOf(
      observed(pods, { uid: 'o' }),
      observed(pods, { uid: 'a', owners: [ref('o')] }),
      observed(pods, { uid: 'b', owners: [ref('o'), ref('a')] }),
      deleted(pods, 'o'),
    );
    const text = dumpGraph(graph);
    expect(shape(text)).toEqual({
      vertices: ['a', 'b', 'o'],
      edges: ['"a" -> "o";', '"b" -> "a";', '"b" -> "o";'],
    });
    expect(text).toContain(`  "o" [
    label="uid=o\\nnamespace=\\nPod.v1/o\\nmissingFromGraph\\n"
    group=""
    version="v1"
    kind="Pod"
    namespace=""
    name="o"
    uid="o"
    missing="true"
`);
  });

  describe('COL-181 around some uids', () => {
    // Two chains: a refers to b and c; d to f, f to g; e to nobody.
    const graph = graphOf(
      ...['b', 'c', 'e', 'g'].map((uid) => observed(pods, { uid })),
      observed(pods, { uid: 'f', owners: [ref('g')] }),
      observed(pods, { uid: 'd', owners: [ref('f')] }),
      observed(pods, { uid: 'a', owners: [ref('b'), ref('c')] }),
    );

    it.each([
      ['the owner', ['g'], ['d', 'f', 'g'], ['"d" -> "f";', '"f" -> "g";']],
      ['the dependent', ['d'], ['d', 'f', 'g'], ['"d" -> "f";', '"f" -> "g";']],
      ['one owner of two', ['b'], ['a', 'b', 'c'], ['"a" -> "b";', '"a" -> "c";']],
      [
        'one of each',
        ['d', 'c'],
        ['a', 'b', 'c', 'd', 'f', 'g'],
        ['"a" -> "b";', '"a" -> "c";', '"d" -> "f";', '"f" -> "g";'],
      ],
      ['nobody’s', ['e'], [], []],
      ['unknown', ['z'], [], []],
    ])('%s', (_, uids, vertices, edges) => {
      expect(shape(dumpGraph(graph, uids))).toEqual({ vertices, edges });
    });
  });
});
