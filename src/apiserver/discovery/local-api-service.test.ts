import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { decideLocalApiService, hasLocalApiService, type ServedGroupVersion } from './local-api-service.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const apps: ServedGroupVersion = { group: 'apps', version: 'v1', origin: 'builtin' };
const widgets: ServedGroupVersion = { group: 'example.com', version: 'v1', origin: 'custom' };

function made(served: ServedGroupVersion): KubeObject {
  const decision = decideLocalApiService(undefined, served, NOW);
  if (decision.verdict !== 'create') throw new Error(`it would ${decision.verdict}`);
  return decision.object;
}

const AVAILABLE = {
  type: 'Available',
  status: 'True',
  lastTransitionTime: '2026-11-27T12:00:00Z',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

describe('the APIService of a group version that this server serves itself', () => {
  it('API-606 of a built-in group has the label and the priorities of kube-apiserver', () => {
    expect(made(apps)).toEqual({
      kind: 'APIService',
      apiVersion: 'apiregistration.k8s.io/v1',
      metadata: { name: 'v1.apps', labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [AVAILABLE] },
    });
    const core = made({ group: '', version: 'v1', origin: 'builtin' });
    expect([core.metadata?.name, core['spec']]).toEqual([
      'v1.',
      { version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 },
    ]);
  });

  it('API-606 of a definition comes after all built-in ones', () => {
    const { metadata, ['spec']: spec } = made(widgets);
    expect([metadata?.name, metadata?.labels]).toEqual([
      'v1.example.com',
      { 'kube-aggregator.kubernetes.io/automanaged': 'true' },
    ]);
    expect(spec).toEqual({ group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
  });

  it('API-606 does not exist for the group that holds the APIServices', () => {
    const registration = { group: 'apiregistration.k8s.io', version: 'v1', origin: 'builtin' } as const;
    expect([hasLocalApiService(registration), hasLocalApiService(apps), hasLocalApiService(widgets)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('API-606 stays as it is, and is corrected after a change of its spec or status', () => {
    const object = made(apps);
    expect(decideLocalApiService(object, apps, NOW)).toEqual({ verdict: 'keep' });
    const annotated = { ...object, metadata: { ...object.metadata, annotations: { a: 'b' } } };
    const changes = [{ spec: { ...(object['spec'] as object), versionPriority: 3 } }, { status: {} }];
    for (const change of changes) {
      expect(decideLocalApiService({ ...annotated, ...change }, apps, NOW)).toEqual({
        verdict: 'update',
        object: annotated,
      });
    }
  });

  it('API-606 goes with the group version, once no finalizer holds it', () => {
    const object = made(widgets);
    const held = { ...object, metadata: { ...object.metadata, finalizers: ['example.com/hold'] } };
    expect(decideLocalApiService(object, 'withdrawn', NOW)).toEqual({ verdict: 'delete' });
    expect(decideLocalApiService(object, 'elsewhere', NOW)).toEqual({ verdict: 'keep' });
    expect(decideLocalApiService(held, 'withdrawn', NOW)).toEqual({ verdict: 'keep' });
    expect(decideLocalApiService(undefined, 'withdrawn', NOW)).toEqual({ verdict: 'keep' });
  });

  it('API-606 of a user keeps its spec, and is available if it names no Service', () => {
    const { metadata, ...rest } = made(apps);
    const own: KubeObject = {
      ...rest,
      metadata: { name: metadata!.name! },
      spec: { group: 'apps', version: 'v1' },
      status: {},
    };
    expect(decideLocalApiService(own, apps, NOW)).toMatchObject({
      verdict: 'update',
      object: { spec: own['spec'], status: { conditions: [AVAILABLE] } },
    });
    const remote = { ...own, spec: { ...(own['spec'] as object), service: { namespace: 'a', name: 'b' } } };
    expect(decideLocalApiService(remote, 'withdrawn', NOW)).toEqual({ verdict: 'keep' });
  });
});
