import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { improperWrite } from './allowed-writes.ts';
import { clusterRole, configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import type { Call } from './recorder.ts';
import { type Policy, Rig } from './rig.ts';

/** The writes that the collector sends, and those that it never sends. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
  await rig.startCollector();
});
afterEach(() => rig.stop());

/** A bit of everything: policies, kinds with and without strategic merge patches, cycles, invalid references, several owners. */
async function everything(): Promise<void> {
  for (const kind of [configMap, widget]) {
    for (const policy of ['Background', 'Foreground', 'Orphan'] satisfies Policy[]) {
      const name = policy.toLowerCase();
      const solid = await rig.create(kind, `${name}-solid`);
      const owner = await rig.create(kind, name, { finalizers: ['x.io/keep'] });
      await rig.create(kind, `${name}-child`, { owners: [refTo(owner, { block: true, controller: true })] });
      await rig.create(kind, `${name}-shared`, {
        owners: [refTo(solid, { block: true }), refTo(owner, { block: true })],
      });
      await rig.delete(kind, name, policy);
      await rig.rest();
      await rig.patch(kind, name, { finalizers: null });
      await rig.rest();
    }
    const a = await rig.create(kind, 'cycle-a');
    const b = await rig.create(kind, 'cycle-b', { owners: [refTo(a, { block: true })] });
    await rig.patch(kind, 'cycle-a', { ownerReferences: [refTo(b, { block: true })] });
    await rig.delete(kind, 'cycle-a', 'Foreground');
    await rig.rest();
  }
  const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
  await rig.create(secret, 'astray', { owners: [refTo(elsewhere)] });
  await rig.create(clusterRole, 'out-of-reach', { owners: [refTo(elsewhere)] });
  await rig.create(secret, 'dangling', { owners: [refToNothing(configMap, 'never')] });
  await rig.advance(70_000);
}

describe('writes', () => {
  it('COL-003 COL-150 COL-166 COL-171 are deletes of single objects, patches of references or finalizers, and Events', async () => {
    await everything();
    expect(rig.recorder.improper).toEqual([]);
    // It did something of each kind.
    const kinds = new Set(
      rig.recorder.all
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path, query, body }) => {
          if (body === undefined) return `${method} ?${Object.keys(query).toSorted().join('&')}`;
          return `${method} ${path.endsWith('/events') ? 'events' : fieldsOf(body)}`;
        }),
    );
    expect([...kinds].toSorted()).toEqual([
      'DELETE ?propagationPolicy&resourceVersion&uid',
      'DELETE apiVersion,kind,preconditions,propagationPolicy',
      'PATCH metadata.finalizers',
      'PATCH metadata.ownerReferences',
      'POST events',
    ]);
  });

  const proper = {
    query: {},
    headers: { 'content-type': 'application/merge-patch+json' },
    path: '/api/v1/namespaces/default/secrets/a',
  };
  const deletion = {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
    preconditions: { uid: 'u', resourceVersion: '1' },
  };
  const inQuery = { uid: 'u', resourceVersion: '1', propagationPolicy: 'Background' };
  const patch = { metadata: { uid: 'u', finalizers: null } };
  const improper: readonly (Partial<Call> & { readonly what: string })[] = [
    { what: 'a creation', method: 'POST', path: '/api/v1/namespaces/default/secrets', body: {} },
    { what: 'an update', method: 'PUT', body: {} },
    { what: 'a deletion of all', method: 'DELETE', path: '/api/v1/namespaces/default/secrets', body: deletion },
    { what: 'a deletion of all in the cluster', method: 'DELETE', path: '/apis/apps/v1/deployments', body: deletion },
    { what: 'a deletion without options', method: 'DELETE', body: undefined },
    { what: 'a deletion without uid in the query', method: 'DELETE', query: { ...inQuery, uid: '' }, body: undefined },
    {
      what: 'a deletion of any version in the query',
      method: 'DELETE',
      query: { uid: 'u', propagationPolicy: 'Background' },
    },
    { what: 'a deletion of no version in the query', method: 'DELETE', query: { ...inQuery, resourceVersion: '' } },
    { what: 'a deletion with grace in the query', method: 'DELETE', query: { ...inQuery, gracePeriodSeconds: '0' } },
    { what: 'a deletion with options in two places', method: 'DELETE', query: inQuery, body: deletion },
    {
      what: 'a deletion with options in the query, of a custom resource',
      method: 'DELETE',
      path: '/apis/example.com/v1/namespaces/default/widgets/a',
      query: inQuery,
    },
    {
      what: 'a deletion without uid',
      method: 'DELETE',
      body: { ...deletion, preconditions: { resourceVersion: '1' } },
    },
    { what: 'a deletion of any version', method: 'DELETE', body: { ...deletion, preconditions: { uid: 'u' } } },
    {
      what: 'a deletion of no version',
      method: 'DELETE',
      body: { ...deletion, preconditions: { uid: 'u', resourceVersion: '' } },
    },
    { what: 'a deletion without policy', method: 'DELETE', body: { ...deletion, propagationPolicy: undefined } },
    { what: 'a deletion with grace', method: 'DELETE', body: { ...deletion, gracePeriodSeconds: 0 } },
    { what: 'a patch of labels', method: 'PATCH', body: { metadata: { uid: 'u', labels: {} } } },
    { what: 'a patch of the spec', method: 'PATCH', body: { ...patch, spec: {} } },
    { what: 'a patch without precondition', method: 'PATCH', body: { metadata: { finalizers: null } } },
    { what: 'a patch of the status', method: 'PATCH', path: `${proper.path}/status`, body: patch },
    { what: 'a forced patch', method: 'PATCH', query: { force: 'true' }, body: patch },
    { what: 'an apply', method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' }, body: patch },
  ];
  it.each(improper)('COL-003 $what would be noticed', ({ what, ...call }) => {
    expect(improperWrite({ ...proper, method: 'GET', body: undefined, ...call }), what).toBeDefined();
  });

  it.each([
    { method: 'DELETE', body: deletion },
    { method: 'DELETE', body: deletion, path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/a' },
    { method: 'DELETE', body: deletion, path: '/api/v1/namespaces/a' },
    { method: 'DELETE', body: undefined, query: inQuery },
    { method: 'PATCH', body: patch },
  ])('COL-003 $method $path is proper', (call) => {
    expect(improperWrite({ ...proper, ...call })).toBeUndefined();
  });
});

function fieldsOf(body: unknown): string {
  const { metadata, ...rest } = body as { readonly metadata?: object };
  const { uid: _, resourceVersion: __, ...changed } = (metadata ?? {}) as Record<string, unknown>;
  return [...Object.keys(rest).toSorted(), ...Object.keys(changed).map((name) => `metadata.${name}`)].join(',');
}

describe('with OwnerReferencesPermissionEnforcement', () => {
  it('COL-222 no patch makes a reference block that did not, so that no right on the owner is needed', async () => {
    const made: string[] = [];
    const refused: string[] = [];
    // The plug-in compares what is stored with what is about to be: what blocks and did not block before needs the right.
    rig.faults.on({ method: 'PATCH', target: /./ }, async (request, next) => {
      const { pathname } = new URL(request.target, 'http://server.invalid');
      const before = await read(pathname);
      const response = await next(request);
      const after = await read(pathname);
      const blockedBefore = blocking(before);
      made.push(pathname);
      for (const each of blocking(after)) if (!blockedBefore.has(each)) refused.push(`${pathname} ${each}`);
      return response;
    });
    await everything();
    expect(made.length).toBeGreaterThan(15);
    expect(refused).toEqual([]);
  });

  const read = (path: string): Promise<KubeObject> =>
    rig.client
      .request({ method: 'GET', path })
      .then((response) => response.json<KubeObject>())
      .catch(() => ({}));
  const blocking = ({ metadata }: KubeObject): Set<string> =>
    new Set(
      (metadata?.ownerReferences ?? [])
        .filter((reference: OwnerReference) => reference.blockOwnerDeletion === true)
        .map((reference) => JSON.stringify(reference)),
    );
});
