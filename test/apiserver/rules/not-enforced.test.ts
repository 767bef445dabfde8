import { describe, expect, it } from 'vitest';
import { startTestServer } from '../../../src/apiserver/test/test-server.ts';

/** What is stored but not acted on says so: no silence where somebody counts on being protected. */

const admission = '/apis/admissionregistration.k8s.io/v1';

describe('kinds without effect', () => {
  it.each([
    [`${admission}/mutatingadmissionpolicybindings`, { spec: { policyName: 'p' } }, 'policies are not evaluated'],
  ])('API-360 %s warns at every write', async (collection, fields, what) => {
    const server = await startTestServer();
    const warning = [`299 - "${what}: this server stores the object, but does not act on it"`];
    const created = await server.post(collection, { metadata: { name: 'x' }, ...fields });
    expect([created.status, created.headers['warning']]).toEqual([201, warning]);
    const changed = await server.patch(`${collection}/x`, { metadata: { labels: { a: 'b' } } });
    expect([changed.status, changed.headers['warning']]).toEqual([200, warning]);
    expect((await server.get(`${collection}/x`)).headers['warning']).toBeUndefined();
  });
});
