import { afterEach, describe, expect, it } from 'vitest';
import { type KubeObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster;
afterEach(() => cluster.stop());

const MINUTE = 60_000;
const labels = { app: 'web' };
const template = (spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'one' }], ...spec },
});
const workload = (kind: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { matchLabels: labels }, ...(kind === 'StatefulSet' ? { serviceName: 'web' } : {}), ...spec },
});
const events = async () =>
  (
    await cluster.client.list<KubeObject & { reason: string; message: string }>({ apiVersion: 'v1', kind: 'Event' })
  ).map(({ reason, message }) => `${reason} ${message}`);
/** Requests of controllers that the server refused, and what they wrote, events left out. */
const requests = () =>
  cluster
    .trace()
    .entries.filter(
      ({ kind, who, object }) =>
        (kind === 'refused' || kind === 'write') && who.endsWith('-controller') && object?.kind !== 'Event',
    ).length;
const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default' },
  spec: { hard: { pods: '0' } },
};

/** Every pod is refused with 422, as one is that validation refuses. */
const noPods = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'no-pods' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
      validations: [{ expression: 'false', message: 'no pods today' }],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'no-pods' },
    spec: { policyName: 'no-pods', validationActions: ['Deny'] },
  },
];

describe('a workload whose pods can not be made', () => {
  it.each(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'])(
    'LIFE-003 tries more and more slowly when a quota is used up: %s',
    async (kind) => {
      cluster = await startCluster({ simulate: { nodes: 1 } });
      await cluster.client.create(quota);
      await cluster.settled();
      await cluster.client.create(workload(kind, { template: template() }));
      await cluster.clock.advance(10 * MINUTE);
      // The event below shows that it failed at least once. It goes on to try.
      expect(requests()).toBeGreaterThan(5);
      expect(requests()).toBeLessThan(80);
      const before = requests();
      // By now the pauses are minutes long.
      await cluster.clock.advance(10 * MINUTE);
      expect(requests() - before).toBeLessThan(20);
      expect(await events()).toContainEqual(expect.stringMatching(/^FailedCreate .*exceeded quota/));
    },
  );

  it('LIFE-003 tries a Job and a ReplicationController more and more slowly, too', async () => {
    cluster = await startCluster({ simulate: { nodes: 1 } });
    await cluster.client.create(quota);
    await cluster.settled();
    const metadata = { name: 'web', namespace: 'default' };
    const of = { template: template({ restartPolicy: 'Never' }) };
    await cluster.client.create({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: of });
    const spec = { replicas: 1, template: template() };
    await cluster.client.create({ apiVersion: 'v1', kind: 'ReplicationController', metadata, spec });
    await cluster.clock.advance(10 * MINUTE);
    const before = requests();
    expect(before).toBeGreaterThan(10);
    expect(before).toBeLessThan(160);
    await cluster.clock.advance(10 * MINUTE);
    expect(requests() - before).toBeLessThan(60);
    const failed = (await events()).filter((event) => /^FailedCreate .*exceeded quota/.test(event));
    expect(failed.length).toBeGreaterThanOrEqual(2);
  });

  it.each(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet', 'Job'])(
    'LIFE-003 tries more and more slowly when every pod is invalid: %s',
    async (kind) => {
      cluster = await startCluster({ simulate: { nodes: 1 }, objects: noPods });
      const selects = kind !== 'ReplicationController' && kind !== 'Job';
      const web = selects ? workload(kind, {}) : { ...workload(kind, {}), spec: {} };
      const apiVersion = kind === 'Job' ? 'batch/v1' : kind === 'ReplicationController' ? 'v1' : 'apps/v1';
      const of = template(kind === 'Job' ? { restartPolicy: 'Never' } : {});
      await cluster.client.create({ ...web, apiVersion, spec: { ...web.spec, template: of } });
      await cluster.clock.advance(10 * MINUTE);
      expect(requests()).toBeGreaterThan(5);
      expect(requests()).toBeLessThan(80);
      const before = requests();
      await cluster.clock.advance(10 * MINUTE);
      expect(requests() - before).toBeLessThan(20);
      expect(await events()).toContainEqual(expect.stringMatching(/^FailedCreate .*no pods today/));
    },
  );

  it('LIFE-266 LIFE-314 says so in the conditions of the ReplicaSet and the Deployment', async () => {
    cluster = await startCluster();
    const web = workload('Deployment', { template: template({ priorityClassName: 'missing' }) });
    await cluster.client.create(web);
    await cluster.clock.advance(MINUTE);
    const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' };
    const [set] = await cluster.client.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'default' });
    expect(set).toMatchObject({ status: { conditions: [failed] } });
    const { status } = await cluster.client.get<KubeObject & { status: { conditions: object[] } }>(web);
    expect(status.conditions).toContainEqual(expect.objectContaining(failed));
    expect(requests()).toBeLessThan(40);
  });

  it('is refused with an invalid selector, so that no controller ever sees one', async () => {
    cluster = await startCluster();
    const selector = { matchExpressions: [{ key: 'app', operator: 'Like', values: ['web'] }] };
    const web = { ...workload('Deployment', {}), spec: { selector, template: template() } };
    await expect(cluster.client.create(web)).rejects.toThrow(
      /Invalid value: .*Like|not a valid (label )?selector operator/,
    );
  });
});

describe('a CronJob that can not run', () => {
  const cronJob = (spec: object) => ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c', namespace: 'default' },
    spec: {
      schedule: '*/10 * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      },
      ...spec,
    },
  });

  it('LIFE-407 waits for ever when it has no next time', async () => {
    cluster = await startCluster({ objects: [cronJob({ schedule: '0 0 31 2 *' })] });
    const before = requests();
    await cluster.clock.advance(60 * MINUTE);
    expect(requests()).toBe(before);
    expect(await events()).toEqual([]);
  });

  it('LIFE-407 is refused with a time zone that nobody knows', async () => {
    cluster = await startCluster();
    await expect(cluster.client.create(cronJob({ timeZone: 'Mars/X' }))).rejects.toThrow(/unknown time zone Mars\/X/);
  });

  it('LIFE-407 starts one Job, and says that it missed many, when it was away for days', async () => {
    cluster = await startCluster({ simulate: { pods: 'run' }, objects: [cronJob({ suspend: true })] });
    await cluster.clock.advance(3 * 24 * 60 * MINUTE + MINUTE);
    const ref = { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name: 'c' };
    await cluster.client.patch(ref, { spec: { suspend: false } });
    await cluster.settled({ advanceMs: 10_000 });
    expect(await cluster.client.list({ apiVersion: 'batch/v1', kind: 'Job' })).toHaveLength(1);
    expect(await events()).toContainEqual(expect.stringMatching(/^TooManyMissedTimes too many missed start times/));
    expect(requests()).toBeLessThan(20);
  });
});
