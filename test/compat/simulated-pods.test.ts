import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** The controllers and the simulators of the built program, as a person sees them. */
describe.each(kubectlPaths())('kubegc up --simulate-pods run with %s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess([...command, '--simulate-pods', 'run'], { cwd: directory.path });
    await server.ready();
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
  });

  afterAll(async () => {
    const { stderr } = await server.stop();
    await directory[Symbol.asyncDispose]();
    expect(stderr).not.toContain('Warning');
  });

  it('LIFE-531 LIFE-357 completes a Job, and shows its events', async () => {
    await kubectl.run('create job hello --image=busybox -- true');
    expect(await kubectl.run('wait --for=condition=complete job/hello --timeout=120s')).toContain('condition met');
    expect(await kubectl.run('get pods --no-headers')).toMatch(/^hello-\w{5} +0\/1 +Completed/);
    const described = await kubectl.run('describe job hello');
    expect(described).toMatch(/Normal +SuccessfulCreate .* job-controller +Created pod: hello-/);
    expect(described).toMatch(/Normal +Completed .* job-controller +Job completed/);
    await kubectl.run('delete job hello --timeout=120s');
    expect(await kubectl.run('get pods -o name')).toBe('');
  });

  it('LIFE-406 starts a Job of a CronJob by hand', async () => {
    await kubectl.run(['create', 'cronjob', 'tick', '--image=busybox', '--schedule=0 0 1 1 *']);
    await kubectl.run('create job manual --from=cronjob/tick');
    await kubectl.run('wait --for=condition=complete job/manual --timeout=120s');
    await kubectl.run('delete cronjob tick --timeout=120s');
    expect(await kubectl.run('get jobs,pods -o name')).toBe('');
  });

  it('LIFE-531 rolls a Deployment out, and drains its node', async () => {
    await kubectl.run('create deployment web --image=nginx --replicas=3');
    expect(await kubectl.run('rollout status deployment/web --timeout=120s')).toContain('successfully rolled out');
    expect(await kubectl.run('drain kubegc-0 --force --timeout=120s')).toContain('node/kubegc-0 drained');
    await kubectl.run('uncordon kubegc-0');
    await kubectl.run('rollout status deployment/web --timeout=120s');
  });

  it('LIFE-182 evicts the pods of a tainted node', async () => {
    await kubectl.run('run bare --image=nginx');
    await kubectl.run('wait --for=condition=ready pod/bare --timeout=120s');
    await kubectl.run('taint nodes kubegc-0 dedicated=x:NoExecute');
    await kubectl.run('wait --for=delete pod/bare --timeout=120s');
    await kubectl.run('taint nodes kubegc-0 dedicated-');
  });
});
