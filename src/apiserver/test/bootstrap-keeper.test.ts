import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { startTestServer } from './test-server.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const OWN = [
  `${NAMESPACE}/services/kubernetes`,
  `${NAMESPACE}/endpoints/kubernetes`,
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
];

describe('what belongs to every cluster', () => {
  it('API-511 comes back ten seconds after somebody has deleted it, at the address it had', async () => {
    const clock = new FakeClock();
    const server = await startTestServer({ clock, address: () => ({ host: '10.0.0.1', port: 6443 }) });
    const before = await Promise.all(OWN.map((path) => server.get(path)));
    for (const path of OWN) await server.delete(path);
    const taken = await server.post(`${NAMESPACE}/services`, {
      metadata: { name: 'other' },
      spec: { clusterIP: '10.96.0.1', ports: [{ port: 1 }] },
    });
    expect(taken.status).toBe(422);
    clock.advance(9_999);
    for (const path of OWN) expect((await server.get(path)).status).toBe(404);
    clock.advance(1);
    await new Promise((next) => setImmediate(next));
    const after = await Promise.all(OWN.map((path) => server.get(path)));
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const [i, { json }] of after.entries()) {
      for (const part of ['spec', 'subsets', 'endpoints']) expect(json[part]).toEqual(before[i]?.json[part]);
      expect(json.metadata?.uid).not.toBe(before[i]?.json.metadata?.uid);
    }
  });

  it('API-510 a namespace that may be deleted comes back, too', async () => {
    const clock = new FakeClock();
    const server = await startTestServer({ clock });
    const path = '/api/v1/namespaces/kube-node-lease';
    const { json } = await server.delete(path);
    await server.put(`${path}/finalize`, { ...json, spec: { finalizers: [] } });
    expect((await server.get(path)).status).toBe(404);
    clock.advance(10_000);
    await new Promise((next) => setImmediate(next));
    expect((await server.get(path)).json['status']).toEqual({ phase: 'Active' });
  });

  it('is left alone by a server that has stopped', async () => {
    const clock = new FakeClock();
    const server = await startTestServer({ clock });
    await server.delete(`${NAMESPACE}/services/kubernetes`);
    await server.server.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
