import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { encodeProtobuf } from '../../api/codec/protobuf/protobuf.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newForbidden } from '../../api/status-error.ts';
import type { AdmissionAttributes } from '../admission/chain/attributes.ts';
import { certificateRequest } from '../authentication/certificate-request.fixture.ts';
import { EventExpiry } from '../registry/event-expiry.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { parseServiceRange } from '../registry/strategies/services/service-range.ts';
import { HeldAdmission } from './held-admission.ts';
import { type Answer, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const container = { name: 'c', image: 'i' };
const pod = (name: string, extra: Partial<KubeObject> & { spec?: object } = {}) => ({
  ...extra,
  metadata: { name, ...extra.metadata },
  spec: { containers: [container], ...extra.spec },
});

describe('pods', () => {
  it.each([
    ['BestEffort', {}],
    ['Burstable', { requests: { cpu: '1' } }],
    ['Burstable', { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } }],
    ['Guaranteed', { limits: { cpu: '1', memory: '1Gi' } }],
    ['Guaranteed', { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }],
  ])('API-152 quality of service %s: %j', async (qosClass, resources) => {
    const { json } = await server.post(pods, pod('p', { spec: { containers: [{ ...container, resources }] } }));
    expect(json['status']).toEqual({ phase: 'Pending', qosClass });
  });

  it('API-322 a name that is no DNS label is accepted with a warning', async () => {
    const { status, headers } = await server.post(pods, pod('a.b'));
    expect(status).toBe(201);
    expect(headers['warning']).toEqual([expect.stringContaining("metadata.name: this is used in the Pod's hostname")]);
  });

  it('has the range of cluster addresses as ServiceCIDR kubernetes', async () => {
    const { status, json } = await server.get('/apis/networking.k8s.io/v1/servicecidrs/kubernetes');
    expect([status, json['spec'], json['status']]).toMatchObject([
      200,
      { cidrs: ['10.96.0.0/12'] },
      { conditions: [{ type: 'Ready', status: 'True' }] },
    ]);
  });

  it('API-510 namespaces of the start are managed by kube-apiserver', async () => {
    const { json } = await server.get('/api/v1/namespaces/default');
    expect(json.metadata?.managedFields).toEqual([
      {
        manager: 'kube-apiserver',
        operation: 'Update',
        apiVersion: 'v1',
        time: expect.stringMatching(/Z$/),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } } },
      },
    ]);
  });

  it('API-513 has the roles of kube-apiserver where an option wants them, whoever decides what is allowed', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin';
    expect((await server.get(role)).status).toBe(404);
    const made = await startTestServer({ bootstrapPolicy: 'made' });
    const watch = await made.watch('/apis/rbac.authorization.k8s.io/v1/clusterroles?watch=1');
    let name: string | undefined;
    // Fewer than a hundred roles are created. A watch that ends gives undefined.
    for (let event = 0; event < 100 && name !== 'cluster-admin'; event++) {
      const next = await watch.next();
      if (next === undefined) break;
      name = next.object.metadata?.name;
    }
    watch.close();
    expect(name).toBe('cluster-admin');
    expect((await made.get(role)).json['rules']).toHaveLength(2);
    await made.server.stop();
  });

  it('API-316 binding sets the node once', async () => {
    await server.post(pods, pod('p'));
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n1' },
    };
    const bound = await server.post(`${pods}/p/binding`, binding);
    expect([bound.status, bound.json.status]).toEqual([201, 'Success']);
    expect((await server.get(`${pods}/p`)).json).toMatchObject({
      metadata: { generation: 1 },
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    const again = await server.post(`${ns}/bindings`, { ...binding, target: { name: 'n2' } });
    expect(again.status).toBe(409);
    expect(again.json.message).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    );
    await server.post(pods, pod('gated', { spec: { schedulingGates: [{ name: 'g' }] } }));
    const gated = await server.post(`${pods}/gated/binding`, { ...binding, metadata: { name: 'gated' } });
    expect(gated.json.message).toContain('pod gated has non-empty .spec.schedulingGates');
    await server.post(pods, pod('going', { metadata: { finalizers: ['example.com/a'] } }));
    await server.delete(`${pods}/going`);
    const going = await server.post(`${pods}/going/binding`, { ...binding, metadata: { name: 'going' } });
    expect(going.json.message).toContain('pod going is being deleted, cannot be assigned to a host');
    expect((await server.post(`${pods}/none/binding`, { ...binding, metadata: { name: 'none' } })).status).toBe(404);
    expect((await server.post(`${pods}/p/binding`, { ...binding, target: {} })).status).toBe(422);
  });

  it('API-317 API-319 eviction deletes, marking the pod first', async () => {
    await server.post(pods, pod('p', { metadata: { finalizers: ['example.com/a'] } }));
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    const wrong = await server.post(`${pods}/p/eviction`, { ...eviction, metadata: { name: 'q' } });
    expect([wrong.status, wrong.json.message]).toEqual([400, 'name in URL does not match name in Eviction object']);
    const { status, json } = await server.post(`${pods}/p/eviction`, eviction);
    expect([status, json.status]).toEqual([201, 'Success']);
    expect((await server.get(`${pods}/p`)).json).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: {
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'EvictionByEvictionAPI',
            message: 'Eviction API: evicting',
          },
        ],
      },
    });
  });

  it.each(['application/json', 'application/yaml'])('API-317 eviction by policy/v1beta1, as %s', async (type) => {
    await server.post(pods, pod('p', { metadata: { finalizers: ['example.com/a'] } }));
    const body = JSON.stringify({
      apiVersion: 'policy/v1beta1',
      kind: 'Eviction',
      metadata: { name: 'p' },
      deleteOptions: { gracePeriodSeconds: 0 },
    });
    const evict = (text: string, query = '') =>
      server.request('POST', `${pods}/p/eviction${query}`, { body: text, headers: { 'content-type': type } });
    const unknown = await evict(body.replace('policy/v1beta1', 'policy/v2'));
    expect([unknown.status, unknown.json.message]).toEqual([
      400,
      'the API version in the data (policy/v2) does not match the expected API version (policy/v1)',
    ]);
    const strict = await evict(body.replace('gracePeriodSeconds', 'patience'), '?fieldValidation=Strict');
    expect([strict.status, strict.json.message]).toEqual([
      400,
      'Eviction in version "v1beta1" cannot be handled as a Eviction: strict decoding error: unknown field "deleteOptions.patience"',
    ]);
    const { status, json } = await evict(body);
    expect([status, json.status]).toEqual([201, 'Success']);
    expect((await server.get(`${pods}/p`)).json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
  });

  it('API-317 API-029 eviction by policy/v1beta1, as protobuf', async () => {
    await server.post(pods, pod('p', { metadata: { finalizers: ['example.com/a'] } }));
    const eviction = {
      apiVersion: 'policy/v1beta1',
      kind: 'Eviction',
      metadata: { name: 'p' },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    const { status, json } = await server.request('POST', `${pods}/p/eviction`, {
      body: encodeProtobuf(eviction as KubeObject),
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    });
    expect([status, json.status]).toEqual([201, 'Success']);
    expect((await server.get(`${pods}/p`)).json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
  });

  it('API-317 admission sees an eviction by policy/v1beta1 as policy/v1', async () => {
    const seen: unknown[] = [];
    const watched = await startTestServer({
      admission: [
        {
          name: 'Seen',
          admit: ({ subresource, object }) => {
            if (subresource === 'eviction') seen.push(object?.apiVersion);
          },
        },
      ],
    });
    await watched.post(pods, pod('p'));
    const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
    expect((await watched.post(`${pods}/p/eviction`, eviction)).status).toBe(201);
    expect(seen[0]).toBe('policy/v1');
    await watched.server.stop();
  });

  describe('API-318 disruption budgets', () => {
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
    const budget = (name: string) => ({
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
    });
    beforeEach(async () => {
      await server.post(pods, pod('p', { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'n' } }));
      await server.patch(`${pods}/p/status`, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
      await server.post(budgets, budget('one'));
    });

    it('refuses while the budget is being processed, and when nothing is allowed', async () => {
      const early = await server.post(`${pods}/p/eviction`, eviction);
      expect([early.status, early.headers['retry-after']]).toEqual([429, '10']);
      await server.patch(`${budgets}/one/status`, {
        status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
      const { status, json } = await server.post(`${pods}/p/eviction`, eviction);
      expect(status).toBe(429);
      expect(json).toMatchObject({
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget one needs 1 healthy pods and has 1 currently',
            },
          ],
        },
      });
    });

    it('takes one from the budget', async () => {
      await server.patch(`${budgets}/one/status`, {
        status: { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
      });
      expect((await server.post(`${pods}/p/eviction`, eviction)).status).toBe(201);
      expect((await server.get(`${budgets}/one`)).json['status']).toMatchObject({
        disruptionsAllowed: 1,
        disruptedPods: { p: expect.any(String) },
      });
      expect((await server.get(`${pods}/p`)).json.metadata?.deletionTimestamp).toBeTruthy();
    });

    it('does not choose between two', async () => {
      await server.post(budgets, budget('two'));
      const { status, json } = await server.post(`${pods}/p/eviction`, eviction);
      expect(status).toBe(500);
      expect(json.message).toBe(
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    });
  });

  it('API-320 no kubelet: a clean answer, never a hang', async () => {
    await server.post(pods, pod('p'));
    expect((await server.get(`${pods}/p/log`)).status).toBe(204);
    const exec = await server.post(`${pods}/p/exec`, {});
    expect([exec.status, exec.json.message]).toEqual([400, 'pod p does not have a host assigned']);
    await server.post(pods, pod('q', { spec: { nodeName: 'n' } }));
    expect((await server.get(`${pods}/q/log`)).status).toBe(503);
    expect((await server.get(`${pods}/none/log`)).status).toBe(404);
  });

  it('API-321 ephemeralcontainers and resize change their part only', async () => {
    await server.post(pods, pod('p'));
    const debug = await server.patch(`${pods}/p/ephemeralcontainers`, {
      spec: { hostNetwork: true, ephemeralContainers: [{ name: 'd', image: 'x' }] },
    });
    expect(debug.status).toBe(200);
    expect(debug.json['spec']).toMatchObject({ ephemeralContainers: [{ name: 'd' }] });
    expect((debug.json['spec'] as { hostNetwork?: boolean }).hostNetwork).toBeUndefined();
    const resized = await server.patch(
      `${pods}/p/resize`,
      { spec: { containers: [{ name: 'c', image: 'other', resources: { requests: { cpu: '1' } } }] } },
      'strategic',
    );
    expect(resized.json['spec']).toMatchObject({ containers: [{ image: 'i', resources: { requests: { cpu: '1' } } }] });
  });
});

describe('services', () => {
  const services = `${ns}/services`;
  const service = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });

  it('get an address of the range that nobody else has', async () => {
    const first = await server.post(services, service('a'));
    expect(first.json['spec']).toMatchObject({
      type: 'ClusterIP',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
    const { clusterIP, clusterIPs } = first.json['spec'] as { clusterIP: string; clusterIPs: string[] };
    expect(clusterIP).toMatch(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/);
    expect(clusterIPs).toEqual([clusterIP]);
    const taken = await server.post(services, service('b', { clusterIP }));
    expect(taken.status).toBe(422);
    expect(taken.json.message).toContain('failed to allocate IP: provided IP is already allocated');
    expect((await server.post(services, service('c', { clusterIP: '192.168.0.1' }))).json.message).toContain(
      'not in the valid range',
    );
    expect((await server.post(services, service('d', { clusterIP: '10.96.0.1' }))).status).toBe(422);
    await server.delete(`${services}/a`);
    expect((await server.post(services, service('b', { clusterIP }))).status).toBe(201);
  });

  it('API-511 come from another range where one is given, of which the first is the one of the server', async () => {
    const other = await startTestServer({ serviceRange: parseServiceRange('10.0.0.0/29') });
    const own = await other.get('/api/v1/namespaces/default/services/kubernetes');
    expect(own.json['spec']).toMatchObject({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] });
    const outside = await other.post(services, service('a', { clusterIP: '10.96.3.4' }));
    expect(outside.json.message).toContain('The range of valid IPs is 10.0.0.0/29');
    const given = new Set<unknown>();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const { json } = await other.post(services, service(name));
      given.add((json['spec'] as { clusterIP: string }).clusterIP);
    }
    expect([...given].toSorted()).toEqual([2, 3, 4, 5, 6].map((last) => `10.0.0.${last}`));
    expect((await other.post(services, service('f'))).status).not.toBe(201);
  });

  it('keep it over updates that leave it out', async () => {
    const { json } = await server.post(services, service('a', { type: 'NodePort' }));
    const put = await server.put(`${services}/a`, service('a', { type: 'NodePort', selector: { x: 'y' } }));
    expect(put.json['spec']).toEqual({ ...(json['spec'] as object), selector: { x: 'y' } });
    expect(put.json['spec']).toMatchObject({ ports: [{ nodePort: expect.any(Number) }] });
  });

  it('headless and external ones have none; a refused or dry-run one gives its address back', async () => {
    expect((await server.post(services, service('h', { clusterIP: 'None' }))).json['spec']).toMatchObject({
      clusterIP: 'None',
      clusterIPs: ['None'],
    });
    const external = await server.post(services, {
      metadata: { name: 'e' },
      spec: { type: 'ExternalName', externalName: 'x.example.com' },
    });
    expect((external.json['spec'] as { clusterIP?: string }).clusterIP).toBeUndefined();
    for (const target of [`${services}?dryRun=All`, services, services]) {
      const status = (await server.post(target, service('x', { clusterIP: '10.100.0.7' }))).status;
      expect([201, 409, 422]).toContain(status);
    }
    await server.delete(`${services}/x`);
    expect((await server.post(services, service('y', { clusterIP: '10.100.0.7' }))).status).toBe(201);
  });

  const spec = (answer: Answer): Record<string, unknown> => answer.json['spec'] as Record<string, unknown>;
  const typed = (type: string, more: object = {}) => ({ spec: { type, ...more } });

  it('a patch of nothing but the type is enough: what the type no longer has goes', async () => {
    const made = await server.post(services, service('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }));
    const { clusterIP, clusterIPs, ports } = spec(made);
    expect(spec(made)).toMatchObject({
      healthCheckNodePort: expect.any(Number),
      ports: [{ nodePort: expect.any(Number) }],
    });
    await server.patch(`${services}/a/status`, { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } });
    const nodePort = await server.patch(`${services}/a`, typed('NodePort'));
    expect(spec(nodePort)).toMatchObject({ ports, externalTrafficPolicy: 'Local' });
    expect(spec(nodePort)).not.toHaveProperty('healthCheckNodePort');
    expect(spec(nodePort)).not.toHaveProperty('allocateLoadBalancerNodePorts');
    expect(nodePort.json['status']).toEqual({ loadBalancer: {} });
    const inside = await server.patch(`${services}/a`, typed('ClusterIP'));
    expect(spec(inside)).toEqual({
      type: 'ClusterIP',
      clusterIP,
      clusterIPs,
      ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
    const name = await server.patch(`${services}/a`, typed('ExternalName', { externalName: 'x.example.com' }));
    expect(name.status).toBe(200);
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      expect(spec(name)).not.toHaveProperty(field);
    }
    const back = await server.patch(
      `${services}/a`,
      typed('ClusterIP', { externalName: null, clusterIP: '10.96.3.4' }),
    );
    expect(spec(back)).toMatchObject({ clusterIP: '10.96.3.4', clusterIPs: ['10.96.3.4'], ipFamilies: ['IPv4'] });
  });

  it('API-502 a given address stays, also for who knows only the old field', async () => {
    const { clusterIP } = spec(await server.post(services, service('a')));
    const changed = await server.patch(`${services}/a`, { spec: { clusterIP: '10.96.0.77' } });
    expect(changed.json).toMatchObject({
      code: 422,
      message: 'Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set',
    });
    const emptied = await server.patch(`${services}/a`, { spec: { clusterIP: null, clusterIPs: null } });
    expect(spec(emptied)).toMatchObject({ clusterIP, clusterIPs: [clusterIP] });
    const both = await server.post(services, service('b', { clusterIP: '10.96.0.78', clusterIPs: ['10.96.0.79'] }));
    expect(both.json.message).toContain(
      'spec.clusterIPs: Invalid value: ["10.96.0.79"]: first value must match `clusterIP`',
    );
    const list = await server.post(services, service('b', { clusterIPs: ['10.96.0.79'] }));
    expect(list.json.message).toContain('must be empty when `clusterIP` is not specified');
  });

  it('a port keeps its node port by its name, and one number of two protocols is one node port', async () => {
    const dns = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, nodePort: 30_053 },
    ];
    const made = await server.post(services, service('a', { type: 'NodePort', ports: dns }));
    expect(spec(made)['ports']).toMatchObject([{ nodePort: 30_053 }, { nodePort: 30_053 }]);
    const two = await server.post(services, service('b', { type: 'NodePort', ports: [{ name: 'x', port: 80 }] }));
    const [{ nodePort }] = spec(two)['ports'] as [{ nodePort: number }];
    const ports = [
      { name: 'y', port: 80 },
      { name: 'x', port: 81 },
    ];
    const put = await server.put(`${services}/b`, service('b', { type: 'NodePort', ports }));
    expect(spec(put)['ports']).toMatchObject([{ nodePort: expect.any(Number) }, { nodePort }]);
    expect((spec(put)['ports'] as { nodePort: number }[])[0]?.nodePort).not.toBe(nodePort);
    const none = await server.post(
      services,
      service('c', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
    );
    expect(spec(none)['ports']).toEqual([{ port: 80, targetPort: 80, protocol: 'TCP' }]);
  });

  it('a headless one without selector may have both families, any other only the one there are addresses of', async () => {
    const headless = await server.post(services, service('h', { clusterIP: 'None' }));
    expect(spec(headless)).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' });
    const selecting = await server.post(services, service('s', { clusterIP: 'None', selector: { a: 'b' } }));
    expect(spec(selecting)).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    const prefer = await server.post(services, service('p', { ipFamilyPolicy: 'PreferDualStack' }));
    expect(spec(prefer)).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' });
    const refusals: [object, string][] = [
      [
        { ipFamilyPolicy: 'RequireDualStack' },
        'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
      ],
      [{ ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
      [
        { clusterIP: 'fd00::1' },
        'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
      ],
      [
        { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] },
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ],
    ];
    for (const [more, text] of refusals) {
      const refused = await server.post(services, service('r', more));
      expect(refused.json).toMatchObject({ code: 422, message: expect.stringContaining(text) });
    }
    const fewer = await server.patch(`${services}/h`, { spec: { ipFamilies: ['IPv4'] } });
    expect(fewer.json.message).toContain("must be 'SingleStack' to release the secondary IP family");
  });

  const name = { type: 'ExternalName', externalName: 'x.example.com' };

  describe('a refused create', () => {
    const holder = { type: 'NodePort', clusterIP: '10.96.0.50', ports: [{ port: 80, nodePort: 30_080 }] };
    const freed = async () => {
      const port = await server.post(services, service('c', { ...holder, clusterIP: '' }));
      const address = await server.post(services, service('c', { clusterIP: '10.96.0.50' }));
      expect(port.json.message).toContain('provided port is already allocated');
      expect(address.json.message).toContain('provided IP is already allocated');
      return [port.status, address.status];
    };

    it.each([
      ['a node port of a type that has none', { ports: [{ port: 80, nodePort: 30_080 }] }],
      ['a health check port without the policy for it', { type: 'LoadBalancer', healthCheckNodePort: 30_080 }],
      ['a second address', { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.96.0.51', '10.96.0.50'] }],
      ['an address of what is only a name', { ...name, clusterIP: '10.96.0.50' }],
      ['a node port of what is only a name', { ...name, externalName: '', ports: holder.ports }],
    ])('frees nothing of another service: %s', async (_, more) => {
      expect((await server.post(services, service('a', holder))).status).toBe(201);
      const [clusterIP] = 'clusterIPs' in more ? more.clusterIPs : [];
      expect((await server.post(services, service('b', { clusterIP, ...more }))).status).toBe(422);
      expect(await freed()).toEqual([422, 422]);
    });

    it('API-502 what is only a name cannot be given an address by the old field, not later either', async () => {
      const text = 'spec.clusterIPs: Forbidden: may not be set for ExternalName services';
      const made = await server.post(services, service('b', { ...name, clusterIP: '10.96.0.50' }));
      expect(made.json.message).toBe(`Service "b" is invalid: ${text}`);
      await server.post(services, service('b', name));
      const changed = await server.patch(`${services}/b`, { spec: { clusterIP: '10.96.0.50' } });
      expect(changed.json.message).toBe(`Service "b" is invalid: ${text}`);
    });

    it('and the deletion of one that names what it cannot have frees nothing either', async () => {
      await server.post(services, service('a', holder));
      expect((await server.post(services, service('b', { ...name, ports: holder.ports }))).status).toBe(201);
      await server.delete(`${services}/b`);
      expect(await freed()).toEqual([422, 422]);
    });
  });

  it('an update that clears only the old field, and wants only a name, releases the address', async () => {
    await server.post(services, service('a'));
    const cleared = await server.patch(`${services}/a`, { spec: { ...name, clusterIP: '' } });
    expect(cleared.status).toBe(200);
    expect(spec(cleared)).not.toHaveProperty('clusterIPs');
  });

  describe('while a create is under way', () => {
    it.each([
      ['provided port is already allocated', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }],
      ['provided port is already allocated', { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_080 }] }],
      ['provided IP is already allocated', { clusterIP: '10.96.0.50' }],
    ])('nobody else is given what it asked for: %s, %j', async (text, wanted) => {
      const held = new HeldAdmission('CREATE', 'services');
      const gated = await startTestServer({ admission: [held.plugin] });
      const first = gated.post(services, service('a', wanted));
      await held.reached;
      const refused = async () => {
        const { status, json } = await gated.post(services, service('b', wanted));
        expect([status, json.message]).toEqual([422, expect.stringContaining(text)]);
      };
      await refused();
      held.release();
      expect((await first).status).toBe(201);
      await refused();
      await gated.delete(`${services}/a`);
      expect((await gated.post(services, service('b', wanted))).status).toBe(201);
    });

    it.each([
      ['a port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }, {}],
      ['an address', { clusterIP: '10.96.0.50' }, { type: 'ExternalName', externalName: 'example.com' }],
    ])('nor while an update is that asked for %s', async (_, wanted, before) => {
      const held = new HeldAdmission('UPDATE', 'services');
      const gated = await startTestServer({ admission: [held.plugin] });
      expect((await gated.post(services, service('a', before))).status).toBe(201);
      const update = gated.patch(`${services}/a`, { spec: { type: 'ClusterIP', externalName: null, ...wanted } });
      await held.reached;
      expect((await gated.post(services, service('b', wanted))).status).toBe(422);
      held.release();
      expect((await update).status).toBe(200);
      expect((await gated.post(services, service('b', wanted))).status).toBe(422);
      await gated.delete(`${services}/a`);
      expect((await gated.post(services, service('b', wanted))).status).toBe(201);
    });

    it('the addresses of an update that failed are free again, and the service keeps its own', async () => {
      const port = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
      const validate = ({ name, operation }: AdmissionAttributes) => {
        if (name !== 'a' || operation !== 'UPDATE') return;
        throw newForbidden({ group: '', resource: 'services' }, name, 'not today');
      };
      const gated = await startTestServer({ admission: [{ name: 'Gate', validate }] });
      expect((await gated.post(services, service('a', port(30_080)))).status).toBe(201);
      expect((await gated.patch(`${services}/a`, { spec: port(30_081) })).status).toBe(403);
      expect((await gated.post(services, service('b', port(30_081)))).status).toBe(201);
      expect((await gated.patch(`${services}/b?dryRun=All`, { spec: port(30_082) })).status).toBe(200);
      expect((await gated.post(services, service('c', port(30_082)))).status).toBe(201);
      expect((await gated.post(services, service('d', port(30_080)))).status).toBe(422);
      expect((await gated.post(services, service('d', port(30_081)))).status).toBe(422);
    });

    it('its things are free again when admission refuses it, or a dry run is over, and when an update leaves them out', async () => {
      const wanted = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] };
      const validate = ({ name, operation }: AdmissionAttributes) => {
        if (name !== 'a' || operation !== 'CREATE') return;
        throw newForbidden({ group: '', resource: 'services' }, name, 'not today');
      };
      const gated = await startTestServer({ admission: [{ name: 'Gate', validate }] });
      expect((await gated.post(services, service('a', wanted))).status).toBe(403);
      for (const next of ['b', 'c']) {
        expect((await gated.post(`${services}?dryRun=All`, service(next, wanted))).status).toBe(201);
        expect((await gated.post(services, service(next, wanted))).status).toBe(201);
        expect((await gated.put(`${services}/${next}`, service(next))).status).toBe(200);
      }
    });
  });

  it('a server started on the same store knows what is taken', async () => {
    const { json } = await server.post(services, service('a'));
    const { clusterIP } = json['spec'] as { clusterIP: string };
    const later = await startTestServer({ store: server.store });
    expect((await later.post(services, service('b', { clusterIP }))).status).toBe(422);
  });
});

describe('other kinds', () => {
  it('secrets take plain text, over what is in data, and never show it', async () => {
    const secrets = `${ns}/secrets`;
    const { json } = await server.post(secrets, {
      metadata: { name: 's' },
      data: { a: 'MQ==', b: 'Mg==' },
      stringData: { a: 'x' },
    });
    expect(json).toMatchObject({ type: 'Opaque', data: { a: 'eA==', b: 'Mg==' } });
    expect(json['stringData']).toBeUndefined();
    const patched = await server.patch(`${secrets}/s`, { stringData: { c: 'y' } });
    expect(patched.json['data']).toEqual({ a: 'eA==', b: 'Mg==', c: 'eQ==' });
  });

  it.each(['__proto__', 'constructor'])('secrets take plain text under the key %s as under any other', async (key) => {
    const secrets = `${ns}/secrets`;
    const body = `{"metadata":{"name":"s"},"stringData":{"a":"x","${key}":"x"}}`;
    const made = await server.request('POST', secrets, { body, headers: { 'content-type': 'application/json' } });
    expect([made.status, Object.entries(made.json['data'] as object)]).toEqual([
      201,
      [
        ['a', 'eA=='],
        [key, 'eA=='],
      ],
    ]);
    const patch = {
      body: `{"stringData":{"${key}":"y"}}`,
      headers: { 'content-type': 'application/merge-patch+json' },
    };
    await server.request('PATCH', `${secrets}/s`, patch);
    const { data } = (await server.get(`${secrets}/s`)).json as { data?: object };
    expect(Object.entries(data ?? {})).toContainEqual([key, 'eQ==']);
  });

  it('LIFE-350 jobs select their pods by their uid, also when the name is generated', async () => {
    const { json } = await server.post('/apis/batch/v1/namespaces/default/jobs', {
      metadata: { generateName: 'j-' },
      spec: {
        template: { metadata: { labels: { mine: 'x' } }, spec: { restartPolicy: 'Never', containers: [container] } },
      },
    });
    const { uid, name } = json.metadata ?? {};
    const owner = { 'batch.kubernetes.io/controller-uid': uid };
    const labels = { ...owner, 'controller-uid': uid, 'batch.kubernetes.io/job-name': name, 'job-name': name };
    const { selector, template } = json['spec'] as { selector: object; template: KubeObject };
    expect(selector).toEqual({ matchLabels: owner });
    expect(template.metadata?.labels).toEqual({ mine: 'x', ...labels });
  });

  it('LIFE-350 a job with a selector of its own keeps it, and its pods get no labels', async () => {
    const selector = { matchLabels: { mine: 'x' } };
    const { json } = await server.post('/apis/batch/v1/namespaces/default/jobs', {
      metadata: { name: 'manual' },
      spec: {
        manualSelector: true,
        selector,
        template: { metadata: { labels: { mine: 'x' } }, spec: { restartPolicy: 'Never', containers: [container] } },
      },
    });
    expect(json['spec']).toMatchObject({ selector });
    const { template } = json['spec'] as { template: KubeObject };
    expect(template.metadata?.labels).toEqual({ mine: 'x' });
  });

  it('LIFE-507 API-502 a job is neither finished too early nor unfinished again', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const template = { spec: { restartPolicy: 'Never', containers: [container] } };
    await server.post(jobs, { metadata: { name: 'j' }, spec: { template } });
    const is = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
    const write = async (status: object) => {
      const { status: code, json } = await server.patch(`${jobs}/j/status`, { status });
      return code === 200 ? 'stored' : [code, ...(json.details?.causes ?? []).map(({ message }) => message)];
    };
    expect(await write(is('Complete'))).toEqual([
      422,
      'Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'Required value: completionTime is required for Complete jobs',
      'Required value: startTime is required for finished job',
    ]);
    const at = '2026-11-21T12:00:00Z';
    expect(await write({ ...is('FailureTarget'), startTime: at, active: 1 })).toBe('stored');
    expect(await write({ ...is('FailureTarget', 'Failed'), active: 1 })).toEqual([
      422,
      'Invalid value: 1: active>0 is invalid for finished job',
    ]);
    expect(await write({ ...is('FailureTarget', 'Failed'), active: 0 })).toBe('stored');
    expect(await write(is('FailureTarget'))).toEqual([
      422,
      'Invalid value: cannot disable the terminal Failed=True condition',
    ]);
  });

  it('API-090 a job without labels shows those of its pods, and a write that changes nothing finds nothing to add', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const { json } = await server.post(jobs, {
      metadata: { name: 'j' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
    });
    expect(json.metadata?.labels).toMatchObject({ 'job-name': 'j', 'controller-uid': json.metadata?.uid });
    expect((await server.patch(`${jobs}/j`, {})).json).toEqual(json);
  });

  it('API-152 volumes start pending, nodes bring their status', async () => {
    const claim = await server.post(`${ns}/persistentvolumeclaims`, {
      metadata: { name: 'v' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    expect(claim.json['status']).toEqual({ phase: 'Pending' });
    const node = await server.post('/api/v1/nodes', {
      metadata: { name: 'n' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect(node.json['status']).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
  });

  it('API-063 a signing request may have any name that stands in a path', async () => {
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const spec = { request: certificateRequest(), signerName: 'example.com/x', usages: ['client auth'] };
    const made = async (name: string) => (await server.post(requests, { metadata: { name }, spec })).status;
    expect(await made('Some_one:else')).toBe(201);
    expect(await made('a/b')).toBe(422);
  });

  it('a signing request says who made it, and only /approval decides', async () => {
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const { json } = await server.post(requests, {
      metadata: { name: 'r' },
      spec: {
        request: certificateRequest(),
        signerName: 'example.com/x',
        usages: ['client auth'],
        username: 'somebody else',
      },
    });
    expect(json['spec']).toMatchObject({ username: 'system:anonymous', groups: ['system:unauthenticated'] });
    const condition = { type: 'Approved', status: 'True', reason: 'r', message: 'm' };
    const approved = await server.patch(`${requests}/r/approval`, {
      spec: { username: 'x' },
      status: { conditions: [condition] },
    });
    expect(approved.json).toMatchObject({
      spec: { username: 'system:anonymous' },
      status: { conditions: [condition] },
    });
  });

  it('API-373 reviews are answered, not stored', async () => {
    const access = await server.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    });
    expect([access.status, access.json['status']]).toEqual([201, { allowed: true }]);
    const self = await server.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect(self.json['status']).toMatchObject({ userInfo: { username: 'system:anonymous' } });
    const local = await server.post('/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews', {
      spec: { user: 'jane', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
    });
    expect(local.status).toBe(201);
  });

  it('API-434 a table of a review is not to be had', async () => {
    const { status, json } = await server.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } },
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(status).toBe(406);
    expect(json.message).toBe(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });

  it('API-377 tokens are refused cleanly', async () => {
    await server.post(`${ns}/serviceaccounts`, { metadata: { name: 'sa' } });
    expect((await server.post(`${ns}/serviceaccounts/sa/token`, { spec: {} })).status).toBe(503);
    expect((await server.post(`${ns}/serviceaccounts/none/token`, { spec: {} })).status).toBe(404);
  });

  it('kinds served in two groups or versions are one object', async () => {
    const event = {
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      note: 'n',
      type: 'Normal',
      eventTime: '2026-11-21T12:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'A',
    };
    const created = await server.post('/apis/events.k8s.io/v1/namespaces/default/events', event);
    expect(created.status).toBe(201);
    const core = await server.get(`${ns}/events/e`);
    expect(core.json).toMatchObject({ kind: 'Event', apiVersion: 'v1', involvedObject: { name: 'p' }, message: 'n' });
    const watch = await server.watch('/apis/events.k8s.io/v1/namespaces/default/events?watch=1');
    expect((await watch.next())?.object).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding: { name: 'p' } });
    watch.close();
    await server.patch(`${ns}/events/e`, { count: 2 }, 'strategic');
    const list = await server.get('/apis/events.k8s.io/v1/events');
    expect(list.json).toMatchObject({
      kind: 'EventList',
      apiVersion: 'events.k8s.io/v1',
      items: [{ regarding: { name: 'p' }, deprecatedCount: 2 }],
    });
    expect(list.json.items[0]?.kind).toBeUndefined();
    const hpa = {
      metadata: { name: 'h' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    };
    await server.post('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', hpa);
    expect(
      (await server.get('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h')).json['spec'],
    ).toMatchObject({
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 50 } } }],
    });
  });

  it('API-564 events go an hour after their last time, and not before', async () => {
    const clock = new FakeClock(Date.parse('2026-11-21T12:00:00Z'));
    const timed = await startTestServer({ clock });
    const expiry = new EventExpiry({ store: timed.store, clock, logger: silentLogger });
    const event = (name: string, extra: object = {}) => ({
      metadata: { name, namespace: 'default' },
      involvedObject: { namespace: 'default' },
      ...extra,
    });
    await timed.post(`${ns}/events`, event('old'));
    await timed.post(`${ns}/events`, event('seen', { lastTimestamp: '2026-11-21T12:30:00Z' }));
    clock.advance(3_600_000);
    expect(await expiry.sweep()).toBe(0);
    clock.advance(1000);
    expect(await expiry.sweep()).toBe(1);
    expect((await timed.get(`${ns}/events`)).json.items.map((item) => item.metadata?.name)).toEqual(['seen']);
  });
});
