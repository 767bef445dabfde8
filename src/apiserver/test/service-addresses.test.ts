import { describe, expect, it } from 'vitest';
import { type Answer, startTestServer } from './test-server.ts';

const services = '/api/v1/namespaces/default/services';
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const nodePort = (port: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort: port }] });
const told = ({ status, json }: Answer) => [status, json.message];
const taken = [422, expect.stringContaining('provided port is already allocated')];

describe('a port is one service’s', () => {
  it('API-502 also by the way of a health check port, which does not change', async () => {
    const server = await startTestServer();
    await server.post(services, service('b', nodePort(30_080)));
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    expect((await server.post(services, service('a', { ...local, healthCheckNodePort: 30_500 }))).status).toBe(201);
    for (const healthCheckNodePort of [30_080, 80]) {
      const changed = await server.patch(`${services}/a`, { spec: { healthCheckNodePort } });
      expect(told(changed)).toEqual([
        422,
        'Service "a" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable',
      ]);
    }
    // Left out it stays.
    expect((await server.put(`${services}/a`, service('a', local))).json['spec']).toMatchObject({
      healthCheckNodePort: 30_500,
    });
  });

  it('also by the way of a type that has none, where nobody looks at it', async () => {
    const server = await startTestServer();
    await server.post(services, service('a', nodePort(30_080)));
    const name = { ...nodePort(30_080), type: 'ExternalName', externalName: 'x.example.com' };
    expect((await server.post(services, service('b', name))).status).toBe(201);
    const typed = { spec: { type: 'NodePort', externalName: null } };
    expect(told(await server.patch(`${services}/b`, typed))).toEqual(taken);
    await server.delete(`${services}/a`);
    expect((await server.patch(`${services}/b`, typed)).status).toBe(200);
  });
});
