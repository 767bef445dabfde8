import { afterEach, beforeEach, expect, it } from 'vitest';
import { fieldInvalid } from '../../src/api/field-error.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newInvalid } from '../../src/api/status-error.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { ControllerRefManager } from '../../src/lifecycle/ownership/controller-ref-manager.ts';
import { answer, EmbeddedCluster, pods } from './embedded-cluster.ts';
import { NAMESPACE, replicaSets, template, Workloads } from './workloads.ts';

let cluster: EmbeddedCluster;
beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const owner: KubeObject = { metadata: { namespace: NAMESPACE, name: 'web', uid: 'owner' } };
const pod = () => new Workloads(cluster).create(pods, 'p', { spec: template({}).spec });

async function release(candidate: KubeObject, interceptors: readonly Interceptor[] = []): Promise<void> {
  const manager = new ControllerRefManager({
    client: cluster.clientWith(interceptors),
    clock: cluster.clock,
    ownerKind: { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    ownerGvr: replicaSets,
    owner,
    dependentKind: 'Pod',
    dependents: pods,
    matches: () => false,
    signal: new AbortController().signal,
  });
  await cluster.wait(manager.release(candidate));
}

it('LIFE-225 a pod that another of its name has replaced counts as released', async () => {
  const { metadata } = await pod();
  await release({ metadata: { ...metadata, uid: 'earlier' } });
});

it('LIFE-225 a pod whose release is refused for another reason does not count as released', async () => {
  const candidate = await pod();
  const refusal = newInvalid({ group: '', kind: 'Pod' }, 'p', [fieldInvalid('metadata.finalizers', 'x', 'policy')]);
  const refuse: Interceptor = () => Promise.resolve(answer(refusal.code, refusal.status));
  await expect(release(candidate, [refuse])).rejects.toMatchObject({ status: { reason: 'Invalid' } });
});
