import { describe, expect, it } from 'vitest';
import type { Pod } from '../pods/pod-object.ts';
import {
  type ConsumerPod,
  decidePodClaims,
  decideResourceClaim,
  DELETE_PROTECTION,
  POD_CLAIM_NAME,
  type ResourceClaim,
} from './resourceclaim-reconcile.ts';

const consumer = (name: string, uid = name) => ({ resource: 'pods', name, uid });
const claim = (over: Partial<ResourceClaim> = {}): ResourceClaim => ({
  ...over,
  metadata: { name: 'c', uid: 'c', finalizers: [DELETE_PROTECTION], ...over.metadata },
  status: { allocation: { devices: {} }, reservedFor: [consumer('p')], ...over.status },
});
const pod = (name: string, over: { metadata?: object; spec?: object; phase?: string } = {}): Pod => ({
  metadata: { name, uid: name, namespace: 'n', ...over.metadata },
  spec: { nodeName: 'node', ...over.spec },
  status: { phase: over.phase ?? 'Running' },
});
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const decide = (object: ResourceClaim, known: ConsumerPod) => decideResourceClaim(object, () => known);

describe('a resource claim', () => {
  it('LIFE-701 stays with a pod that needs it', () => {
    expect(decide(claim(), pod('p'))).toEqual({ verdict: 'nothing', reason: 'inUse' });
    expect(decide(claim(), pod('p', { metadata: going })).verdict).toBe('nothing');
  });

  it('LIFE-701 asks live before it takes a pod for gone', () => {
    expect(decide(claim(), 'unsure')).toMatchObject({ verdict: 'readPods', names: ['p'] });
  });

  it.each<[string, ConsumerPod]>([
    ['is gone', 'gone'],
    ['was replaced', pod('p', { metadata: { uid: 'another' } })],
    ['has ended', pod('p', { phase: 'Succeeded' })],
    ['goes without ever having had a node', pod('p', { metadata: going, spec: { nodeName: '' } })],
  ])('LIFE-701 is taken back from a pod that %s, with its allocation', (_, known) => {
    expect(decide(claim(), known)).toEqual({
      verdict: 'setStatus',
      reason: 'consumersGone',
      status: { reservedFor: [] },
    });
  });

  it('LIFE-701 keeps its allocation while another needs it, and consumers that are no pods', () => {
    const other = { apiGroup: 'x', resource: 'things', name: 't', uid: 't' };
    const shared = claim({ status: { allocation: 1, reservedFor: [consumer('p'), consumer('q'), other] } });
    const decision = decideResourceClaim(shared, (name) => (name === 'p' ? 'gone' : pod(name)));
    expect(decision).toMatchObject({ status: { allocation: 1, reservedFor: [consumer('q'), other] } });
  });

  it('LIFE-701 loses its finalizer when nothing is allocated', () => {
    const free: ResourceClaim = { metadata: { name: 'c', finalizers: [DELETE_PROTECTION, 'x'] }, status: {} };
    expect(decide(free, 'gone')).toMatchObject({ claim: { metadata: { finalizers: ['x'] } } });
  });

  it('LIFE-701 made for a pod is deleted when the pod has ended, before the pod is', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p', controller: true }];
    const made: ResourceClaim = { metadata: { name: 'c', ownerReferences }, status: {} };
    expect(decide(made, pod('p', { phase: 'Failed' }))).toEqual({ verdict: 'delete', reason: 'podDone' });
    expect(decide(made, pod('p')).verdict).toBe('nothing');
    // The collector deletes this claim.
    expect(decide(made, 'gone')).toEqual({ verdict: 'nothing', reason: 'ownerGone' });
  });
});

describe('the claims of a pod', () => {
  const asking = pod('p', { spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] } });
  const template = { spec: { metadata: { labels: { a: 'b' } }, spec: { devices: {} } } };

  it('LIFE-701 are made from templates, and owned by the pod', () => {
    const [decision] = decidePodClaims(asking, { generated: [], templateOf: () => template });
    expect(decision).toMatchObject({
      verdict: 'create',
      claim: {
        metadata: { generateName: 'p-gpu-', labels: { a: 'b' }, annotations: { [POD_CLAIM_NAME]: 'gpu' } },
        spec: { devices: {} },
      },
    });
  });

  it('LIFE-701 are used when they are there, and not made for a pod that needs none', () => {
    const generated = [{ metadata: { name: 'p-gpu-x', annotations: { [POD_CLAIM_NAME]: 'gpu' } } }];
    const facts = { generated, templateOf: () => template };
    expect(decidePodClaims(asking, facts)).toEqual([{ verdict: 'use', name: 'gpu', claim: 'p-gpu-x' }]);
    expect(decidePodClaims({ ...asking, metadata: { ...asking.metadata, ...going } }, facts)).toEqual([]);
    const missing = decidePodClaims(asking, { generated: [], templateOf: () => undefined });
    expect(missing).toMatchObject([{ verdict: 'templateMissing', template: 't' }]);
  });
});
