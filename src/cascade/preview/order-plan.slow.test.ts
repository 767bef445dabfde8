import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { snapshotOf } from '../snapshot/snapshot.fixture.ts';
import { orderPlan } from './order-plan.ts';
import { planCascade } from './preview.ts';

it('CAS-054 orders a request of any number of objects', async () => {
  const handler = () => Promise.resolve({ status: 404, headers: {}, body: new Uint8Array() });
  const transport = inProcessTransport(handler);
  const client = new RestClient({ transport, clock: new FakeClock(), userAgent: 'test' });
  const { plan } = planCascade(snapshotOf([]), { roots: [], assumeFinalizers: 'removed' });
  const roots = Array.from({ length: 600_000 }, (_, i) => ({
    ref: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      namespace: 'shop',
      name: `c${i}`,
      uid: `u${i}`,
    },
    policy: 'Background' as const,
    policyFrom: 'default' as const,
  }));
  const large = { ...plan, roots };
  expect(await orderPlan(client, large)).toBe(large);
});
