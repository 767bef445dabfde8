import { readFileSync, writeFileSync } from 'node:fs';
import type { RestClient } from '../../src/client/rest/rest-client.ts';
import { previewCascade } from '../../src/cascade/preview/preview.ts';
import { ResourceCatalogue } from '../../src/cascade/snapshot/resource-catalogue.ts';
import { discoveryOf } from '../../src/cascade/snapshot/snapshot.fixture.ts';
import { Snapshot } from '../../src/cascade/snapshot/snapshot.ts';
import type { MonitoredResource } from '../../src/collector/types/event.ts';
import { cpuMs, naiveCascade, naiveNodes, ROOT, rootedGraph } from '../collector/rooted-trees.ts';
import { randomUids, TREE, uidText } from '../collector/trees.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';

/**
 * P12, the whole preview: from a snapshot of a million objects to the finished plan, with an outcome, a reason and a reference for each
 * object that goes. The objects are those of the graph's part, of kinds whose bodies no rule reads, so that no request is in the figure. The
 * baseline is that part's recursive walk, which says only which objects go.
 */
export const run: Benchmark = async ({ smoke }) => {
  const objects = (smoke ? 100 : 83_333) * TREE;
  const uids = randomUids(objects);
  const snapshot = snapshotOf(objects, uids);
  const tree = uidText(uids, TREE - 1);
  const preview = async (root: string, count: number): Promise<void> => {
    const plan = await previewCascade(NO_SERVER, snapshot, { roots: [{ uid: root }], assumeFinalizers: 'removed' });
    if (plan.objects.length !== count || plan.summary.byOutcome.deleted !== count)
      throw new Error(`${plan.objects.length} of ${count} are in the plan`);
  };
  await preview(tree, TREE);
  const branch = median(await times(5, () => void snapshot.graph.branch()));
  const small = median(await times(9, () => preview(tree, TREE)));
  // Once, as the command does it.
  const [all, peak] = await withPeak(() => preview(ROOT.uid, objects + 1));
  console.log(`P12: the branch of the graph takes ${branch.toFixed(1)} ms of a preview`);

  const naive = naiveNodes(objects, uids);
  const walkTime = (root: string, walks: number, count: number): number => {
    if (naiveCascade(naive, root).size !== count) throw new Error('the walk is wrong');
    const work = (): void => {
      for (let walk = 0; walk < walks; walk++) naiveCascade(naive, root);
    };
    return median([1, 2, 3].map(() => cpuMs(work) / walks));
  };
  const walkAll = walkTime(ROOT.uid, 1, objects + 1);
  const walkTree = walkTime(tree, smoke ? 10_000 : 100_000, TREE);
  const what = `out of ${objects.toLocaleString('en')} objects`;
  const walk = 'a recursive walk over Map and Set';
  return [
    result({ id: 'P12 (all, preview)', workload: `the root of everything, ${what}`, unit: 'ms CPU' }, all, {
      baseline: { what: walk, value: walkAll },
      good: 10_000,
      great: 5_000,
    }),
    result({ id: 'P12 (tree, preview)', workload: `a tree of 12, ${what}`, unit: 'ms CPU' }, small, {
      baseline: { what: walk, value: walkTree },
      good: 150,
      great: 50,
    }),
    result(
      { id: 'P12 (memory)', workload: `the root of everything, ${what}`, unit: 'B an object above the graph' },
      peak / objects,
      {
        baseline: { what: 'the graph itself', value: snapshot.graph.bytes.allocated / objects },
        // 800 and 400 MiB for a million.
        good: 839,
        great: 419,
      },
    ),
  ];
};

/** One root has no waves to read, and no rule needs a body. */
const NO_SERVER = {} as RestClient;

function snapshotOf(objects: number, uids: Uint32Array): Snapshot {
  const catalogue = new ResourceCatalogue(discoveryOf());
  const core = (resource: string): MonitoredResource => catalogue.monitored(catalogue.ofGroup('', resource)!);
  const resources = {
    root: core('configmaps'),
    ofKind: [core('configmaps'), core('secrets'), core('serviceaccounts')],
  };
  return new Snapshot({
    graph: rootedGraph(objects, uids, resources),
    catalogue,
    kept: new Map(),
    created: [],
    readAt: Date.UTC(2026, 10, 27),
    source: 'list',
    incomplete: [],
  });
}

/** Milliseconds of processor time. */
async function cpuOf(work: () => void | Promise<void>): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function times(rounds: number, work: () => void | Promise<void>): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) found.push(await cpuOf(work));
  return found;
}

/** Milliseconds of processor time, and bytes of resident memory at the peak of the work above those before it. */
async function withPeak(work: () => Promise<void>): Promise<[milliseconds: number, bytes: number]> {
  globalThis.gc?.();
  // The kernel counts the peak anew from here on.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.memoryUsage.rss();
  const milliseconds = await cpuOf(work);
  const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  return [milliseconds, peak - before];
}

interface Subject {
  readonly id: string;
  readonly workload: string;
  readonly unit: string;
}

function result(
  { id, workload, unit }: Subject,
  value: number,
  {
    baseline,
    good,
    great,
  }: { readonly baseline: BenchResult['baseline']; readonly good: number; readonly great: number },
): BenchResult {
  return {
    id,
    workload,
    metric: unit,
    value,
    baseline,
    ratio: baseline.value / value,
    level: levelOf(value, { good, great, better: 'less' }),
    demands: { good: `<= ${good} ${unit}`, great: `<= ${great} ${unit}` },
  };
}
