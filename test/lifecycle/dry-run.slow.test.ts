import { afterEach, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { buildControllers } from '../../src/assembly/build-controllers.ts';
import { selectControllers } from '../../src/cli/flags/select-controllers.ts';
import { lifecycleSettingsOf } from '../../src/cli/flags/lifecycle-flags.ts';
import { EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';
import { NAMESPACE, replicaSets, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
afterEach(() => cluster.stop());

const jobs = gvrOf('jobs', 'batch');
const cronJobs = gvrOf('cronjobs', 'batch');

/** Runs all controllers but the collector, with these flags. Answers with the writes that reach the server. */
async function runAll(flags: Parameters<typeof lifecycleSettingsOf>[0]): Promise<string[]> {
  const writes: string[] = [];
  const { clock, random, logger, metrics } = cluster;
  const client = cluster.clientWith([
    (request, next) => {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.target}`);
      return next(request);
    },
  ]);
  const { services } = await buildControllers({
    selected: selectControllers(['*', '-garbage-collector-controller', 'token-cleaner-controller']),
    client,
    clock,
    randomOf: () => random,
    logger,
    metrics,
    collector: {},
    lifecycle: lifecycleSettingsOf(flags),
    rootCaPem: 'pem',
    issueSecretToken: undefined,
    mount: () => {},
    loading: cluster.loading,
  });
  await cluster.run(() => ({
    run: async (signal) => {
      await Promise.all(services.map((service) => service.run(signal)));
    },
  }));
  return writes;
}
const reported = () =>
  cluster.logger.lines
    .filter(({ message }) => message === 'would delete')
    .map(({ fields }) => fields as Record<string, unknown>);

async function garbage(): Promise<void> {
  const work = new Workloads(cluster);
  const status = { phase: 'Failed' };
  for (const name of ['one', 'two']) {
    await work.create(pods, name, { spec: { containers: [{ name: 'c', image: 'i' }] } });
    await cluster.wait(
      cluster.client.patch(
        { gvr: pods, namespace: NAMESPACE, name, subresource: 'status' },
        { type: 'application/merge-patch+json', body: { status } },
      ),
    );
  }
  const app = { app: 'web' };
  for (const name of ['a', 'b']) {
    await work.create(pods, name, { metadata: { labels: app }, spec: template(app).spec });
  }
  await work.create(replicaSets, 'web', {
    spec: { replicas: 1, selector: { matchLabels: app }, template: template(app) },
  });
  await work.create(jobs, 'waiting', {
    spec: { template: template({}, 'i', { restartPolicy: 'Never' }) },
  });
  await work.create(cronJobs, 'each', {
    spec: {
      schedule: '*/1 * * * *',
      jobTemplate: { spec: { template: template({}, 'i', { restartPolicy: 'Never' }) } },
    },
  });
  await cluster.create({ gvr: gvrOf('secrets'), namespace: 'kube-system' }, {
    metadata: { name: 'bootstrap-token-abcdef' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', expiration: '2000-01-01T00:00:00Z' },
  } as never);
  await cluster.create({ gvr: namespaces }, { metadata: { name: 'gone' } });
  await cluster.create({ gvr: gvrOf('configmaps'), namespace: 'gone' }, { metadata: { name: 'content' } });
  await cluster.wait(cluster.client.delete({ gvr: namespaces, name: 'gone' }));
}

it('LIFE-018 controllers that run dry write nothing, and report each deletion once with rule and reason', async () => {
  cluster = await EmbeddedCluster.start();
  await garbage();
  const writes = await runAll({ dryRunControllers: '*', terminatedPodGcThreshold: '1' });
  await cluster.until(async () => new Set(reported().map(({ rule }) => rule)).size >= 4, { withinMs: 600_000 });
  await cluster.clock.advanceAsync(600_000);
  expect(writes).toEqual([]);
  const records = reported();
  expect(records).toContainEqual(
    expect.objectContaining({
      controller: 'pod-garbage-collector-controller',
      rule: 'LIFE-051',
      reason: 'terminated',
      resource: 'pods',
      namespace: 'default',
      name: 'one',
      uid: expect.any(String) as string,
    }),
  );
  expect(new Set(records.map(({ controller, rule }) => `${String(controller)} ${String(rule)}`))).toEqual(
    new Set([
      'pod-garbage-collector-controller LIFE-051',
      'replicaset-controller LIFE-261',
      'token-cleaner-controller LIFE-682',
      'namespace-controller LIFE-450',
    ]),
  );
  const known = readFileSync('docs/rules.json', 'utf8');
  for (const { rule } of records) expect(known).toContain(`"${String(rule)}"`);
  expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(records.length);
  expect(await cluster.names({ gvr: pods, namespace: NAMESPACE })).toEqual(['a', 'b', 'one', 'two']);
  expect(await cluster.names({ gvr: gvrOf('configmaps'), namespace: 'gone' })).toEqual(['content']);
});

it('LIFE-018 only the named controller runs dry', async () => {
  cluster = await EmbeddedCluster.start();
  await garbage();
  const writes = await runAll({ dryRunControllers: 'podgc', terminatedPodGcThreshold: '1' });
  await cluster.until(async () => reported().length > 0 && writes.some((write) => write.startsWith('DELETE')), {
    withinMs: 600_000,
  });
  expect(reported()).toMatchObject([{ controller: 'pod-garbage-collector-controller', name: 'one' }]);
  expect(await cluster.names({ gvr: pods, namespace: NAMESPACE })).toContain('one');
});
