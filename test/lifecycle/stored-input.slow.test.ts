import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { DeploymentController } from '../../src/lifecycle/deployment/deployment-controller.ts';
import { ReplicaSetController } from '../../src/lifecycle/replicaset/replicaset-controller.ts';
import { CronJobController } from '../../src/lifecycle/cronjob/cronjob-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';
import { deployments, replicaSets, template, Workloads } from './workloads.ts';

/** Selectors and time zones that this server does not accept. Another one may have stored them, so the controllers' watch shows them. */
let cluster: EmbeddedCluster;
let work: Workloads;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  work = new Workloads(cluster);
});
afterEach(() => cluster.stop());

/** Shows a text instead of another in the watch of one resource. */
const shown =
  (resource: string, instead: string, text: string): Interceptor =>
  async (request, next) => {
    const response = await next(request);
    const { body } = response;
    if (!request.target.includes(`/${resource}?`) || body instanceof Uint8Array) return response;
    async function* changed() {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        yield Buffer.from(Buffer.from(chunk).toString().replaceAll(instead, text));
      }
    }
    return { ...response, body: changed() };
  };

const withSelector = (selector: object) => ({
  spec: { replicas: 2, selector, template: template({ app: 'web' }) },
});

describe('a selector', () => {
  it('LIFE-268 that cannot be read is logged once for each change, and nothing is done', async () => {
    cluster.fault = shown('replicasets', '"operator":"In"', '"operator":"Like"');
    await cluster.runShared((context) => new ReplicaSetController(context));
    const matchExpressions = [{ key: 'app', operator: 'In', values: ['web'] }];
    await work.create(replicaSets, 'web', withSelector({ matchExpressions }));
    const errors = () => cluster.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    await cluster.clock.advanceAsync(600_000);
    expect(errors()).toEqual(['the selector is invalid; change it']);
    expect(await work.pods()).toEqual([]);
    expect(cluster.requests).toEqual([]);
    await work.patch(replicaSets, 'web', { metadata: { labels: { changed: 'yes' } } });
    await cluster.clock.advanceAsync(600_000);
    expect(errors()).toHaveLength(2);
  });

  it('LIFE-312 that matches every pod is reported, and only the observed generation is written', async () => {
    const matchLabels = { app: 'web' };
    cluster.fault = shown('deployments', `"selector":${JSON.stringify({ matchLabels })}`, '"selector":{}');
    await cluster.runShared((context) => new DeploymentController(context));
    await work.create(deployments, 'web', withSelector({ matchLabels }));
    await cluster.clock.advanceAsync(600_000);
    const { status } = (await work.get<KubeObject & { status: object }>(deployments, 'web'))!;
    expect(status).toEqual({ observedGeneration: 1 });
    expect(await work.eventsOf('web')).toEqual([
      'Warning SelectingAll This deployment is selecting all pods. A non-empty selector is required.',
    ]);
    expect(await work.list(replicaSets)).toEqual([]);
    expect(cluster.requests.filter((request) => !request.includes('/events'))).toEqual([
      'PUT /apis/apps/v1/namespaces/default/deployments/web/status',
    ]);
  });
});

it('LIFE-407 a time zone that nobody knows is reported once for each change, and nothing is done', async () => {
  cluster.fault = shown('cronjobs', '"timeZone":"UTC"', '"timeZone":"Mars/X"');
  await cluster.runShared((context) => new CronJobController(context));
  const never = { restartPolicy: 'Never' };
  const spec = {
    schedule: '* * * * *',
    timeZone: 'UTC',
    jobTemplate: { spec: { template: template({}, 'i', never) } },
  };
  const cronJobs = gvrOf('cronjobs', 'batch');
  await work.create(cronJobs, 'tick', { spec });
  await cluster.clock.advanceAsync(600_000);
  const reported = /^Warning UnknownTimeZone invalid timeZone: "Mars\/X": /;
  expect(await work.eventsOf('tick')).toEqual([expect.stringMatching(reported)]);
  expect(cluster.requests).toHaveLength(1);
  await work.patch(cronJobs, 'tick', { metadata: { labels: { changed: 'yes' } } });
  await cluster.clock.advanceAsync(600_000);
  expect(cluster.requests).toHaveLength(2);
  expect(cluster.requests.filter((request) => !request.includes('/events'))).toEqual([]);
});
