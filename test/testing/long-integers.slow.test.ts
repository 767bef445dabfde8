import { expect, it } from 'vitest';
import { type KubeObject, startCluster } from '../../src/testing/testing.ts';

const LONG = 9223372036854775807n;
const meta = (name: string, extra: object = {}): object => ({ metadata: { name, namespace: 'default', ...extra } });

interface Pod extends KubeObject {
  readonly spec: {
    readonly terminationGracePeriodSeconds: bigint;
    readonly tolerations: readonly { readonly key: string; readonly tolerationSeconds?: unknown }[];
  };
}

it('controllers copy an integer of 64 bits exactly', async () => {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: {
      terminationGracePeriodSeconds: LONG,
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: LONG }],
      containers: [{ name: 'c', image: 'i' }],
    },
  };
  const workload = { selector: { matchLabels: { app: 'web' } }, template };
  await using cluster = await startCluster({
    objects: [
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node' },
        spec: { taints: [{ key: 'a', effect: 'NoExecute' }] },
      },
      { apiVersion: 'apps/v1', kind: 'Deployment', ...meta('web'), spec: { replicas: 1, ...workload } },
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        ...meta('db'),
        spec: { replicas: 1, serviceName: 'db', ...workload },
      },
    ],
  });
  await cluster.settled();
  const pods = await cluster.client.list<Pod>({ apiVersion: 'v1', kind: 'Pod', namespace: 'default' });
  expect(pods.length).toBe(2);
  for (const { spec } of pods) {
    expect(spec.terminationGracePeriodSeconds).toBe(LONG);
    expect(spec.tolerations.find(({ key }) => key === 'a')?.tolerationSeconds).toBe(LONG);
  }
});
