import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { openCluster, type ClusterAccess } from '../../src/cli/command/cluster-access.ts';
import { recordEvents } from '../../src/cli/node/node-events.ts';
import { ProtectListSource } from '../../src/nodegc/protectlists/protect-list-source.ts';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';
import { until } from '../program/until.ts';

const LIST = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'base', namespace: 'kube-system', labels: { 'node.kubegc/protect-list': '' } },
  data: { images: 'busybox\nreg.example/base/*', nodeSelector: 'zone=edge' },
};

describe('node collection with an API server', () => {
  let cluster: TestCluster;
  let access: ClusterAccess;
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kgn-'));
    cluster = await startCluster({
      listen: true,
      clock: 'real',
      controllers: [],
      objects: [
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels: { zone: 'edge' } } },
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2', labels: { zone: 'core' } } },
        LIST,
        // Neither the label nor the namespace makes a list by itself.
        { ...LIST, metadata: { name: 'unlabelled', namespace: 'kube-system' }, data: { images: 'other' } },
        { ...LIST, metadata: { ...LIST.metadata, namespace: 'default' }, data: { images: 'elsewhere' } },
      ],
    });
    const kubeconfig = join(directory, 'kubeconfig');
    await cluster.writeKubeconfig(kubeconfig);
    access = await openCluster({ kubeconfig, requestTimeout: '60s' } as Parameters<typeof openCluster>[0], {
      stdout: () => undefined,
      stderr: () => undefined,
      columns: 80,
    });
  });
  afterAll(async () => {
    await access?.close();
    await cluster?.stop();
    await rm(directory, { recursive: true });
  });

  function source(nodeName: string) {
    const stop = new AbortController();
    const lists = new ProtectListSource({
      client: access.client,
      clock: systemClock,
      random: systemRandom,
      logger: new MemoryLogger(),
      namespace: 'kube-system',
      nodeName,
    });
    const before = lists.patterns;
    const running = lists.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    return { lists, before, end, texts: () => lists.patterns?.map(({ text }) => text) };
  }

  it('NODE-212 reads the protect lists of one namespace that select this node, and follows them', async () => {
    const { lists, before, end, texts } = source('node-1');
    expect(before).toBeUndefined();
    await lists.waitForSync(new AbortController().signal);
    expect(texts()).toEqual(['busybox', 'reg.example/base/*']);
    const client = access.client;
    const ref = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'kube-system', name: 'base' };
    const seen = (await client.get(ref)) as typeof LIST;
    await client.update(ref, { ...seen, data: { ...seen.data, images: 'alpine' } });
    await until('the list follows its ConfigMap', () => texts()?.join() === 'alpine');
    await client.update(ref, { ...((await client.get(ref)) as typeof LIST), data: LIST.data });
    await end();
  });

  it('NODE-212 takes no list whose selector does not select this node', async () => {
    const { lists, end, texts } = source('node-2');
    await lists.waitForSync(new AbortController().signal);
    expect(texts()).toEqual([]);
    await end();
  });

  it('NODE-130 writes a warning about the Node with its own uid, the reason and the message', async () => {
    const stop = new AbortController();
    const recorder = await recordEvents({ client: access.client, nodeName: 'node-1' }, new MemoryLogger());
    const running = recorder.run(stop.signal);
    recorder.emit({ reason: 'FreeDiskSpaceFailed', message: 'Insufficient free disk space' });
    interface Event {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
      readonly involvedObject: Readonly<Record<string, string>>;
      readonly source?: { readonly component?: string };
    }
    let events: readonly Event[] = [];
    await until('the event is written', async () => {
      events = (await access.client.list({ gvr: { group: '', version: 'v1', resource: 'events' } })).items as never;
      return events.length > 0;
    });
    const nodes = { group: '', version: 'v1', resource: 'nodes' };
    const node = (await access.client.get({ gvr: nodes, name: 'node-1' })) as { metadata: { uid: string } };
    expect(events[0]).toMatchObject({
      type: 'Warning',
      reason: 'FreeDiskSpaceFailed',
      message: 'Insufficient free disk space',
      involvedObject: { kind: 'Node', name: 'node-1', uid: node.metadata.uid },
    });
    stop.abort();
    await running;
  });
});
