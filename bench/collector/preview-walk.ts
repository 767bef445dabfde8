import type { Graph, NodeId } from '../../src/collector/graph/graph.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { cpuMs, naiveCascade, naiveNodes, ROOT, rootedGraph } from './rooted-trees.ts';
import { randomUids, resources, TREE, uidText } from './trees.ts';

const ROOT_RESOURCE = { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' };

/**
 * P12, the part of the graph: which objects go when one is deleted in background. An object goes when all of its owners
 * go. A million objects: trees of twelve whose Deployments have one root in common.
 */
export const run: Benchmark = async ({ smoke }) => {
  const objects = (smoke ? 1000 : 83_333) * TREE;
  const uids = randomUids(objects);
  const graph = rootedGraph(objects, uids, { root: ROOT_RESOURCE, ofKind: resources });
  const naive = naiveNodes(objects, uids);
  const walk = new CascadeWalk(graph);
  const random = seededRandom(1);
  const trees = Array.from({ length: 1000 }, () => TREE * random.integer(objects / TREE) + TREE - 1);
  // Each once before it is timed, and each checked.
  const all = walk.from(graph.find(ROOT.uid));
  if (all !== objects + 1 || naiveCascade(naive, ROOT.uid).size !== objects + 1)
    throw new Error(`${all} of ${objects} go`);
  for (const root of trees) {
    const uid = uidText(uids, root);
    if (walk.from(graph.find(uid)) !== TREE || naiveCascade(naive, uid).size !== TREE)
      throw new Error('a tree is not twelve');
  }
  const roots = trees.map((root) => uidText(uids, root));
  const rounds = smoke ? 2 : 7;
  const big = { ours: [] as number[], theirs: [] as number[] };
  const small = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    big.ours.push(cpuMs(() => void walk.from(graph.find(ROOT.uid))));
    big.theirs.push(cpuMs(() => void naiveCascade(naive, ROOT.uid)));
    small.ours.push(cpuMs(() => roots.forEach((uid) => walk.from(graph.find(uid)))));
    small.theirs.push(cpuMs(() => roots.forEach((uid) => naiveCascade(naive, uid))));
  }
  await Promise.resolve();
  return [
    result('P12 (all, graph)', 'the root of everything', {
      unit: 'ms CPU',
      value: median(big.ours),
      baseline: median(big.theirs),
      good: 150,
      great: 60,
      objects,
    }),
    result('P12 (tree, graph)', 'a tree of 12, mean of 1,000 random ones', {
      unit: 'µs CPU',
      value: median(small.ours),
      baseline: median(small.theirs),
      good: 50,
      great: 10,
      objects,
    }),
  ];
};

interface Figures {
  readonly unit: string;
  readonly value: number;
  readonly baseline: number;
  readonly good: number;
  readonly great: number;
  readonly objects: number;
}

function result(id: string, what: string, { unit, value, baseline, good, great, objects }: Figures): BenchResult {
  return {
    id,
    workload: `${what}, out of ${objects.toLocaleString('en')} objects`,
    metric: unit,
    value,
    baseline: { what: 'a recursive walk over Map and Set', value: baseline },
    ratio: baseline / value,
    level: levelOf(value, { good, great, better: 'less' }),
    demands: { good: `<= ${good} ${unit}`, great: `<= ${great} ${unit}` },
  };
}

/** Walks of one graph; the marks are kept between them, so that a small walk costs nothing of the graph's size. */
class CascadeWalk {
  readonly #graph: Graph;
  /** The number of the walk that a node goes in. */
  readonly #goesIn: Uint32Array;
  readonly #open: Int32Array;
  #walk = 0;
  #count = 0;
  #staying = 0;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#goesIn = new Uint32Array(graph.capacity);
    this.#open = new Int32Array(graph.capacity);
  }

  /** How many go with it. */
  from(root: NodeId): number {
    this.#walk++;
    this.#count = 0;
    this.#take(root);
    for (let next = 0; next < this.#count; next++) this.#graph.forEachDependent(this.#open[next]!, this.#consider);
    return this.#count;
  }

  #take(node: NodeId): void {
    this.#goesIn[node] = this.#walk;
    this.#open[this.#count++] = node;
  }

  readonly #consider = (dependent: NodeId): void => {
    if (this.#goesIn[dependent] === this.#walk) return;
    this.#staying = 0;
    this.#graph.forEachOwner(dependent, this.#countStaying);
    if (this.#staying === 0) this.#take(dependent);
  };

  readonly #countStaying = (owner: NodeId): void => {
    if (owner >= 0 && this.#goesIn[owner] !== this.#walk) this.#staying++;
  };
}
