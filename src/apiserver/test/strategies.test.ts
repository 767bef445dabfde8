import { beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const pod = (name: string, spec: object = {}, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

describe('pods', () => {
  it('API-437 a pod with scheduling gates says that they are why it is not scheduled', async () => {
    const { json } = await server.post(pods, pod('p', { schedulingGates: [{ name: 'example.com/wait' }] }));
    expect(json['status']).toMatchObject({
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastTransitionTime: json.metadata?.creationTimestamp,
        },
      ],
    });
  });

  it('keys of labels become requirements with the values of the pod, once', async () => {
    const term = { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } };
    const { json } = await server.post(
      pods,
      pod(
        'p',
        {
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { ...term, matchLabelKeys: ['hash', 'absent', 'constructor'] },
              ],
            },
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, podAffinityTerm: { ...term, mismatchLabelKeys: ['hash'] } },
              ],
            },
          },
          topologySpreadConstraints: [
            { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', ...term, matchLabelKeys: ['hash'] },
            { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', topologyKey: 'zone' },
          ],
        },
        { hash: '1' },
      ),
    );
    const has = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'hash', operator: 'In', values: ['1'] }] };
    const hasNot = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'hash', operator: 'NotIn', values: ['1'] }] };
    expect(json['spec']).toMatchObject({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: has }] },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { labelSelector: hasNot } }],
        },
      },
      topologySpreadConstraints: [{ labelSelector: has }, { topologyKey: 'zone' }],
    });
  });

  it('API-321 an ephemeral container stays as it was made', async () => {
    await server.post(pods, pod('p'));
    const path = `${pods}/p/ephemeralcontainers`;
    const debug = { name: 'd', image: 'x' };
    await server.patch(path, { spec: { ephemeralContainers: [debug] } });
    const changed = await server.patch(path, { spec: { ephemeralContainers: [{ ...debug, image: 'y' }] } });
    expect(changed.json).toMatchObject({
      code: 422,
      message: expect.stringContaining('existing ephemeral containers "d" may not be changed'),
    });
    const removed = await server.patch(path, { spec: { ephemeralContainers: [] } });
    expect(removed.json.message).toContain('existing ephemeral containers "d" may not be removed');
    const second = await server.get(`${pods}/p`);
    expect(second.json['spec']).toMatchObject({ ephemeralContainers: [{ name: 'd', image: 'x' }] });
  });
});

describe('volumes and claims', () => {
  it('API-152 a volume notes when its phase last changed, whoever changes it', async () => {
    const volumes = '/api/v1/persistentvolumes';
    const made = await server.post(volumes, {
      metadata: { name: 'v' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    });
    const { creationTimestamp } = made.json.metadata ?? {};
    expect(made.json['status']).toEqual({ phase: 'Pending', lastPhaseTransitionTime: creationTimestamp });
    const given = '2020-01-01T00:00:00Z';
    const told = await server.patch(`${volumes}/v/status`, {
      status: { phase: 'Available', lastPhaseTransitionTime: given },
    });
    expect(told.json['status']).toEqual({ phase: 'Available', lastPhaseTransitionTime: given });
    const same = await server.put(`${volumes}/v/status`, { ...told.json, status: { phase: 'Available' } });
    expect(same.json['status']).toEqual({ phase: 'Available', lastPhaseTransitionTime: given });
    const bound = await server.patch(`${volumes}/v/status`, { status: { phase: 'Bound' } });
    const { lastPhaseTransitionTime } = bound.json['status'] as unknown as { lastPhaseTransitionTime: string };
    expect(lastPhaseTransitionTime >= (creationTimestamp ?? '')).toBe(true);
  });

  it.each([
    ['a claim in the old field', { dataSource: { kind: 'PersistentVolumeClaim', name: 'o' } }, 'PersistentVolumeClaim'],
    [
      'a snapshot in the new field',
      { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'o' } },
      'VolumeSnapshot',
    ],
    ['something else in the old field', { dataSource: { apiGroup: 'x.y', kind: 'Other', name: 'o' } }, undefined],
    ['something else in the new field', { dataSourceRef: { apiGroup: 'x.y', kind: 'Other', name: 'o' } }, 'Other'],
  ])('what a claim is filled from stands in both fields: %s', async (_, source, kind) => {
    const { json } = await server.post(`${ns}/persistentvolumeclaims`, {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...source },
    });
    const spec = json['spec'] as Record<string, { kind: string } | undefined>;
    expect([spec['dataSource']?.kind, spec['dataSourceRef']?.kind]).toEqual([kind, kind]);
  });
});

describe('other kinds', () => {
  it('API-074 a driver has no generation until its spec changes', async () => {
    const drivers = '/apis/storage.k8s.io/v1/csidrivers';
    const made = await server.post(drivers, { metadata: { name: 'd' }, spec: {} });
    expect(made.json.metadata?.generation).toBeUndefined();
    const labelled = await server.patch(`${drivers}/d`, { metadata: { labels: { a: 'b' } } });
    expect(labelled.json.metadata?.generation).toBeUndefined();
    const changed = await server.patch(`${drivers}/d`, { spec: { requiresRepublish: true } });
    expect(changed.json.metadata?.generation).toBe(1);
  });

  it('API-074 labels of an endpoint slice count for its generation', async () => {
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    await server.post(slices, { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [], ports: [] });
    const generation = async (change: object): Promise<unknown> =>
      (await server.patch(`${slices}/s`, change)).json.metadata?.generation;
    expect(await generation({ metadata: { annotations: { a: 'b' } } })).toBe(1);
    expect(await generation({ metadata: { labels: { 'kubernetes.io/service-name': 'x' } } })).toBe(2);
    expect(await generation({ endpoints: [{ addresses: ['1.2.3.4'] }] })).toBe(3);
  });

  it('a daemon set counts the changes of its template in an annotation of old', async () => {
    const sets = '/apis/apps/v1/namespaces/default/daemonsets';
    const key = 'deprecated.daemonset.template.generation';
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const set = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const made = await server.post(sets, set);
    expect(made.json.metadata?.annotations).toEqual({ [key]: '1' });
    const again = await server.put(`${sets}/d`, set);
    expect(again.json.metadata).toMatchObject({
      annotations: { [key]: '1' },
      resourceVersion: made.json.metadata?.resourceVersion,
    });
    const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } };
    const changed = await server.patch(`${sets}/d`, image);
    expect(changed.json.metadata).toMatchObject({ annotations: { [key]: '2' }, generation: 2 });
    const status = await server.patch(`${sets}/d/status`, { metadata: { annotations: { [key]: '9', x: 'y' } } });
    expect(status.json.metadata?.annotations).toEqual({ [key]: '2', x: 'y' });
    const odd = await server.post(sets, { ...set, metadata: { name: 'e', annotations: { [key]: 'x' } } });
    expect(odd.status).toBe(400);
  });

  it('only the names are kept from the secrets of a service account', async () => {
    const { json } = await server.post(`${ns}/serviceaccounts`, {
      metadata: { name: 'a' },
      secrets: [{ kind: 'Secret', namespace: 'elsewhere', name: 's', uid: 'u' }],
    });
    expect(json['secrets']).toEqual([{ name: 's' }]);
  });

  it('API-010 a request for a kind that is deprecated gets a warning', async () => {
    const warnings = async (path: string): Promise<unknown> => (await server.get(path)).headers['warning'];
    expect(await warnings(`${ns}/endpoints`)).toEqual([
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    ]);
    expect(await warnings('/api/v1/componentstatuses')).toEqual(['299 - "v1 ComponentStatus is deprecated in v1.19+"']);
    expect(await warnings('/apis/discovery.k8s.io/v1/endpointslices')).toBeUndefined();
  });

  it('API-512 the priority classes of the system stay', async () => {
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const refused = await server.delete(`${classes}/system-node-critical`);
    expect(refused.json).toMatchObject({
      code: 403,
      message:
        'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    });
    await server.post(classes, { metadata: { name: 'own' }, value: 1 });
    expect((await server.delete(`${classes}/own`)).status).toBe(200);
  });

  it('API-010 what is accepted but hardly meant comes with a warning, on create and on a change of the spec', async () => {
    const sets = '/apis/apps/v1/namespaces/default/deployments';
    const env = ['1', '2'].map((value) => ({ name: 'A', value }));
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i', env }] },
    };
    const set = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const hidden = [
      '299 - "spec.template.spec.containers[0].env[1]: hides previous definition of \\"A\\", which may be dropped when using apply"',
    ];
    expect((await server.post(sets, set)).headers['warning']).toEqual(hidden);
    expect((await server.put(`${sets}/d`, set)).headers['warning']).toBeUndefined();
    expect((await server.patch(`${sets}/d`, { spec: { paused: true } })).headers['warning']).toEqual(hidden);
  });
});
