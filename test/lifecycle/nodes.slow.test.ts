import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeExistenceController } from '../../src/lifecycle/node-existence/node-existence-controller.ts';
import { parseSource } from '../../src/lifecycle/node-existence/source-spec.ts';
import { NodeLifecycleController } from '../../src/lifecycle/node-lifecycle/node-lifecycle-controller.ts';
import type { Node } from '../../src/lifecycle/pods/pod-object.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const nodes = gvrOf('nodes');
const leases = gvrOf('leases', 'coordination.k8s.io');
const merge = 'application/merge-patch+json';
let cluster: EmbeddedCluster;
let directory: string;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  directory = mkdtempSync(join(tmpdir(), 'kubegc-nodes-'));
});
afterEach(async () => {
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

const makeNode = async (name: string, ready?: string, labels: Record<string, string> = {}) => {
  await cluster.create({ gvr: nodes }, { metadata: { name, labels } });
  if (ready !== undefined) await setReady(name, ready);
};
const setReady = (name: string, ready: string) =>
  cluster.wait(
    cluster.client.patch(
      { gvr: nodes, name, subresource: 'status' },
      { type: merge, body: { status: { conditions: [{ type: 'Ready', status: ready }] } } },
    ),
  );
const nodeOf = (name: string) => cluster.get({ gvr: nodes, name }) as Promise<Node | undefined>;
const readyOf = async (name: string) =>
  (await nodeOf(name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
const taintsOf = async (name: string) => ((await nodeOf(name))?.spec?.taints ?? []).map(({ key }) => key);
const events = async () =>
  (await cluster.wait(cluster.client.list<{ reason: string; message: string }>({ gvr: gvrOf('events') }))).items;

describe('a node whose machine is gone', () => {
  const inventory = (text: string) => writeFileSync(join(directory, 'nodes'), text);
  const watch = (settings: { maxDeleteFraction?: number } = {}) =>
    cluster.runShared(
      (context) =>
        new NodeExistenceController({
          ...context,
          source: parseSource(`file:${join(directory, 'nodes')}`),
          ...settings,
        }),
    );

  it('LIFE-171 LIFE-177 is deleted with an event, and no other', async () => {
    inventory('here\n');
    for (const [name, ready] of [
      ['here', 'False'],
      ['gone', 'Unknown'],
      ['alive', 'True'],
    ] as const)
      await makeNode(name, ready);
    await watch();
    await cluster.until(async () => (await nodeOf('gone')) === undefined);
    await cluster.clock.advanceAsync(60_000);
    expect(await cluster.names({ gvr: nodes })).toEqual(['alive', 'here']);
    const [told] = (await events()).filter(({ reason }) => reason === 'DeletingNode');
    expect(told?.message).toBe('Deleting node gone because it does not exist in the cloud provider');
    expect(cluster.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
  });

  it('LIFE-176 no node is deleted while too many are missing, or the inventory is empty or unreadable', async () => {
    inventory('nobody\n');
    for (const name of ['a', 'b', 'c']) await makeNode(name, 'False');
    await watch();
    await cluster.until(async () => (await events()).some(({ reason }) => reason === 'TooManyNodesMissing'));
    // The file is read in real time, so that the clock has to go on until its answer is there.
    const unanswered = (error: RegExp) => async () =>
      cluster.logger.lines.some(
        ({ message, fields }) => message.includes('gives no answer') && error.test(String(fields['error'])),
      );
    inventory('');
    await cluster.until(unanswered(/inventory is empty/));
    rmSync(join(directory, 'nodes'));
    await cluster.until(unanswered(/ENOENT/));
    expect(await cluster.names({ gvr: nodes })).toEqual(['a', 'b', 'c']);
  });

  it('LIFE-173 LIFE-170 is tainted while it is shut down, and freed when it is Ready', async () => {
    inventory('n shutdown\n');
    await makeNode('n', 'False');
    await watch();
    const taint = 'node.cloudprovider.kubernetes.io/shutdown';
    await cluster.until(async () => (await taintsOf('n')).includes(taint));
    await setReady('n', 'True');
    await cluster.until(async () => (await taintsOf('n')).length === 0);
  });
});

describe('a node whose kubelet is silent', () => {
  const renew = async (name: string) => {
    const renewTime = `${new Date(cluster.clock.now()).toISOString().slice(0, -1)}000Z`;
    const ref = { gvr: leases, namespace: 'kube-node-lease', name };
    if ((await cluster.get(ref)) === undefined) {
      await cluster.create(
        { gvr: leases, namespace: 'kube-node-lease' },
        { metadata: { name }, spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime } },
      );
    } else await cluster.wait(cluster.client.patch(ref, { type: merge, body: { spec: { renewTime } } }));
  };
  const beat = async (name: string, ms: number) => {
    for (let passed = 0; passed < ms; passed += 10_000) {
      await renew(name);
      await cluster.clock.advanceAsync(10_000);
    }
  };
  const watch = () => cluster.runShared((context) => new NodeLifecycleController(context));

  it('LIFE-180 LIFE-181 LIFE-184 becomes Unknown after 50 s, is tainted, and is freed when it reports again', async () => {
    await makeNode('n', 'True');
    await watch();
    await beat('n', 120_000);
    expect(await readyOf('n')).toBe('True');
    const ms = await cluster.until(async () => (await readyOf('n')) === 'Unknown', { withinMs: 80_000, stepMs: 1000 });
    expect(ms).toBeGreaterThan(39_000);
    await cluster.until(async () => (await taintsOf('n')).includes('node.kubernetes.io/unreachable'));
    expect((await events()).map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['RegisteredNode', 'NodeNotReady']),
    );
    await renew('n');
    await setReady('n', 'True');
    await cluster.until(async () => (await taintsOf('n')).length === 0);
    await cluster.wait(cluster.client.delete({ gvr: nodes, name: 'n' }));
    await cluster.until(async () => (await events()).some(({ reason }) => reason === 'RemovingNode'));
  });

  it('LIFE-183 that nobody ever heard of is left alone, so that a node of a test stays as it is', async () => {
    await makeNode('n', 'True');
    await watch();
    await cluster.clock.advanceAsync(600_000);
    expect(await readyOf('n')).toBe('True');
    expect(
      cluster.requests.filter((request) => /^(PUT|PATCH|DELETE)/.test(request) && request.includes('/nodes')),
    ).toEqual([]);
  });
});
