import { expect, it } from 'vitest';
import { indentedJson } from '../../base/json/json-pieces.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { applied } from '../../collector/graph/apply.ts';
import { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import { Dies } from '../dominators/dies.ts';
import { planText } from '../report/plan-text.ts';
import { PLAIN } from '../report/style.ts';
import { discoveryOf, NOW } from '../snapshot/snapshot.fixture.ts';
import { ResourceCatalogue } from '../snapshot/resource-catalogue.ts';
import { Snapshot } from '../snapshot/snapshot.ts';
import { previewCascade } from './preview.ts';

const OBJECTS = 1_000_000;
/** Objects that each owner owns: 1,000 branches of 999 below the root. */
const BRANCH = 1000;

const uid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
const ownerOf = (n: number): number => (n % BRANCH === 0 ? 0 : n - (n % BRANCH));

/** A snapshot of a million ConfigMaps: the first owns 999, and each of these owns 999. */
function millionObjects(): Snapshot {
  const catalogue = new ResourceCatalogue(discoveryOf());
  const resource = catalogue.monitored(catalogue.ofGroup('', 'configmaps')!);
  const graph = new OwnershipGraph({ absentOwners: { size: 0 } });
  for (let n = 0; n < OBJECTS; n++) {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: `c${ownerOf(n)}`, uid: uid(ownerOf(n)) };
    const object = { uid: uid(n), name: `c${n}`, namespace: 'shop', resourceVersion: '1', deleting: false };
    const ownerReferences = n === 0 ? [] : [owner];
    applied(graph, { type: 'observed', resource, object: { ...object, finalizers: [], ownerReferences } });
  }
  return new Snapshot({ graph, catalogue, kept: new Map(), created: [], readAt: NOW, source: 'list', incomplete: [] });
}

it('CAS-004 a cluster of a million objects is previewed, counted, printed and written as JSON', async () => {
  const snapshot = millionObjects();
  // One root has no waves to read, and no rule needs the body of a ConfigMap: nothing is asked of a server.
  const request = { roots: [{ uid: uid(0) }], assumeFinalizers: 'removed' } as const;
  const plan = await previewCascade({} as RestClient, snapshot, request);
  expect(plan.objects.length).toBe(OBJECTS);
  expect(plan.summary.byOutcome).toEqual({ deleted: OBJECTS });
  expect(new Set(plan.objects.map(({ sequence }) => sequence)).size).toBe(OBJECTS);

  const dies = new Dies(snapshot);
  expect([0, BRANCH, BRANCH + 1].map((n) => dies.of(uid(n)))).toEqual([OBJECTS, BRANCH, 1]);

  const text = planText(plan, { style: PLAIN, all: false, wide: false });
  expect(text).toMatch(/^Deleting configmap\/c0 \(background\) removes 1,000,000 objects in 1 namespace\.\n/);
  expect(text.split('\n').length).toBeLessThan(250);

  // In pieces: the whole is longer than a string may be.
  let names = 0;
  for (const piece of indentedJson(plan)) names += piece.split('"sequence":').length - 1;
  expect(names).toBe(OBJECTS);
}, 900_000);
