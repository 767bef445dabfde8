import { afterEach, beforeEach, expect, it } from 'vitest';
import { formatMicroTime } from '../../src/api/meta/time.ts';
import { lifecycleSettingsOf } from '../../src/cli/flags/lifecycle-flags.ts';
import { selectOnDemand } from '../../src/lifecycle/assembly/on-demand-controllers.ts';
import { OnFirstUse } from '../../src/lifecycle/kit/on-first-use.ts';
import { EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const leases = gvrOf('leases', 'coordination.k8s.io');
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

async function run(name: string, flags: Parameters<typeof lifecycleSettingsOf>[0]): Promise<void> {
  const controllers = selectOnDemand(new Set([name]), lifecycleSettingsOf(flags));
  await cluster.run(
    (environment) =>
      new OnFirstUse({ ...environment, controllers, contextOf: () => environment, loading: cluster.loading }),
  );
}

it('LIFE-057 the quarantine of a missing node and the interval of passes are those of the flags', async () => {
  await run('pod-garbage-collector-controller', { podGcQuarantine: '5m', podGcCheckPeriod: '1m' });
  const spec = { nodeName: 'gone', containers: [{ name: 'c', image: 'i' }] };
  await cluster.create({ gvr: pods, namespace: 'default' }, { metadata: { name: 'p' }, spec });
  const isGone = async () => (await cluster.names({ gvr: pods, namespace: 'default' })).length === 0;
  const waited = await cluster.until(isGone, { withinMs: 900_000, stepMs: 1000 });
  expect(waited).toBeGreaterThanOrEqual(300_000);
  expect(waited).toBeLessThanOrEqual(422_000);
});

it('LIFE-202 the age of a lease that may be deleted is that of the flag', async () => {
  await run('node-lease-cleaner-controller', { nodeLeaseMinAge: '10m' });
  const spec = { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: formatMicroTime(cluster.clock.now()) };
  await cluster.create({ gvr: leases, namespace: 'kube-node-lease' }, { metadata: { name: 'n' }, spec });
  const isGone = async () => (await cluster.names({ gvr: leases, namespace: 'kube-node-lease' })).length === 0;
  const waited = await cluster.until(isGone, { withinMs: 1_200_000, stepMs: 1000 });
  expect(waited).toBeGreaterThanOrEqual(599_000);
  expect(waited).toBeLessThanOrEqual(602_000);
});
