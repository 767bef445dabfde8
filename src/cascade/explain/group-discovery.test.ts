import { expect, it } from 'vitest';
import type { ObjectReference } from '../documents/object-reference.ts';
import { OwnershipIndex } from '../observed/ownership-index.ts';
import { explain } from './explain.ts';

it('CAS-032 names the aggregated group that does not answer, as the reason a namespace is stuck', () => {
  const ref: ObjectReference = { apiVersion: 'v1', kind: 'Namespace', resource: 'namespaces', name: 'shop', uid: 'u' };
  const metadata = { name: 'shop', uid: 'u', deletionTimestamp: '2026-11-26T12:00:00Z' };
  const index = new OwnershipIndex({
    readAt: Date.UTC(2026, 10, 26, 13),
    objects: [{ ref, metadata }],
    kindOf: () => undefined,
    versionsOf: () => [],
    unreadGroups: ['metrics.k8s.io/v1beta1'],
    incomplete: [
      { resource: 'metrics.k8s.io/v1beta1', reason: 'stale GroupVersion discovery: metrics.k8s.io/v1beta1' },
    ],
  });
  const evidence = {
    index,
    subject: ref,
    bodies: new Map(),
    refusedWrites: new Map(),
    nodes: new Map(),
    convertedByWebhook: new Set<string>(),
    sightings: [],
  };
  const { findings, incomplete } = explain(evidence);
  expect(findings).toMatchObject([
    { code: 'groupDiscoveryFailing', evidence: 'discovery failed for metrics.k8s.io/v1beta1' },
  ]);
  expect(findings[0]!.nextStep).toContain('(metrics.k8s.io/v1beta1)');
  expect(incomplete).toHaveLength(1);
});
