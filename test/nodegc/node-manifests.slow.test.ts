import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { startCluster } from '../../src/testing/testing.ts';

const manifests = join(import.meta.dirname, '../../docs/manifests');

interface PodSpec {
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly securityContext: object;
    readonly volumeMounts: readonly { readonly name: string }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
}

it('an API server accepts docs/manifests/node-daemonset.yaml, which begins by removing nothing', async () => {
  const path = join(manifests, 'node-daemonset.yaml');
  const cluster = await startCluster({ objects: [path] });
  await cluster.stop();
  const documents = parseAllDocuments(readFileSync(path, 'utf8')).map(
    (each) => each.toJS() as { kind: string; spec?: { template: { spec: PodSpec } } },
  );
  expect(documents.map(({ kind }) => kind)).toContain('DaemonSet');
  const pod = documents.find(({ kind }) => kind === 'DaemonSet')!.spec!.template.spec;
  expect(pod.containers[0]?.args).toContain('--mode=audit');
  expect(pod.containers[0]?.securityContext).toMatchObject({
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  expect([pod.hostNetwork, pod.hostPID]).toEqual([undefined, undefined]);
  expect(pod.containers[0]?.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
});

it('docs/manifests/kubegc-node.service runs a command that exists, and waits for removals under way', () => {
  const unit = readFileSync(join(manifests, 'kubegc-node.service'), 'utf8');
  expect(unit).toMatch(/^ExecStart=\/usr\/bin\/env kubegc node run /m);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(120);
});
