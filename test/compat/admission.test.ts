import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, configuration, deny, patchWith, WebhookServer } from '../admission/webhook-server.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** Webhooks and policies as a person meets them, with every kubectl, against the built program. */
describe.each(kubectlPaths())('%s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;
  let hook: WebhookServer;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    hook = await WebhookServer.start();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const service = `default/hook=127.0.0.1:${hook.port}`;
    const args = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess(['up', ...args, '--webhook-service', service]);
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    await server.ready();
  });
  afterAll(async () => {
    await server.stop();
    await hook.close();
    await directory[Symbol.asyncDispose]();
  });

  const apply = (object: object): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    kubectl.try(['apply', '-f', '-'], { input: JSON.stringify(object) });

  it('API-352 a validating webhook by URL: what it denies shows its words', async () => {
    const object = configuration('Validating', 'deny', { clientConfig: hook.at('/validate') });
    expect(await apply(object)).toMatchObject({
      code: 0,
      stdout: 'validatingwebhookconfiguration.admissionregistration.k8s.io/deny created\n',
    });
    hook.behaviour = deny({ message: 'no maps today', code: 403 });
    expect(await kubectl.try(['create', 'configmap', 'a'])).toMatchObject({
      code: 1,
      stderr:
        'error: failed to create configmap: admission webhook "hook-0.example.com" denied the request: no maps today\n',
    });
    hook.behaviour = (review) => answer(review, { allowed: true, warnings: ['this once'] });
    const { code, stdout, stderr } = await kubectl.try(['create', 'configmap', 'a']);
    expect([code, stdout, stderr]).toEqual([0, 'configmap/a created\n', 'Warning: this once\n']);
    expect(hook.requests.at(-1)).toMatchObject({
      operation: 'CREATE',
      userInfo: { username: 'kubegc-admin' },
      options: { fieldManager: 'kubectl-create' },
    });
    await kubectl.run('delete validatingwebhookconfiguration deny');
    hook.reset();
  });

  it('API-358 a mutating webhook behind a service', async () => {
    const clientConfig = { service: { namespace: 'default', name: 'hook', path: '/mutate' }, caBundle: hook.caBundle };
    await apply(configuration('Mutating', 'label', { clientConfig }));
    hook.behaviour = patchWith({ op: 'add', path: '/metadata/labels', value: { by: 'webhook' } });
    await kubectl.run('create configmap labelled');
    expect(await kubectl.run('get configmap labelled -o jsonpath={.metadata.labels}')).toBe('{"by":"webhook"}');
    await kubectl.run('delete mutatingwebhookconfiguration label');
    hook.reset();
  });

  it('API-353 nobody is there', async () => {
    const url = 'https://127.0.0.1:1/gone';
    await apply(configuration('Validating', 'gone', { clientConfig: { url } }));
    const { code, stderr } = await kubectl.try(['create', 'configmap', 'b']);
    expect([code, stderr]).toEqual([
      1,
      `error: failed to create configmap: Internal error occurred: failed calling webhook "hook-0.example.com": failed to call webhook: Post "${url}?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused\n`,
    ]);
    await kubectl.run('delete validatingwebhookconfiguration gone');
  });

  it('API-464 a custom resource in the version that is asked for', async () => {
    hook.behaviour = ({ apiVersion, request }) => {
      const { uid, desiredAPIVersion, objects } = request;
      const convertedObjects = objects.map((object) => ({
        ...object,
        apiVersion: desiredAPIVersion,
        spec: { version: desiredAPIVersion },
      }));
      const response = { uid, result: { status: 'Success' }, convertedObjects };
      return { body: { kind: 'ConversionReview', apiVersion, response } };
    };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema });
    const webhook = { clientConfig: hook.at('/convert'), conversionReviewVersions: ['v1'] };
    await kubectl.run(['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'tulips.garden.example.com' },
        spec: {
          group: 'garden.example.com',
          scope: 'Namespaced',
          names: { plural: 'tulips', kind: 'Tulip' },
          versions: [version('v1'), version('v2')],
          conversion: { strategy: 'Webhook', webhook },
        },
      }),
    });
    await kubectl.run('wait --for=condition=Established crd/tulips.garden.example.com');
    const tulip = {
      apiVersion: 'garden.example.com/v1',
      kind: 'Tulip',
      metadata: { name: 't' },
      spec: { version: 'own' },
    };
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(tulip) });
    expect(await kubectl.run('get tulips.v1.garden.example.com t -o jsonpath={.spec.version}')).toBe('own');
    expect(await kubectl.run('get tulips.v2.garden.example.com -o jsonpath={.items[0].spec.version}')).toBe(
      'garden.example.com/v2',
    );
    hook.behaviour = () => 'reset';
    const { code, stderr } = await kubectl.try(['get', 'tulips.v2.garden.example.com', 't', '-o', 'yaml']);
    expect([code, stderr]).toEqual([
      1,
      `Error from server: conversion webhook for garden.example.com/v1, Kind=Tulip failed: Post "${hook.url('/convert')}": EOF\n`,
    ]);
    await kubectl.run('delete crd tulips.garden.example.com');
    hook.reset();
  });

  it('API-360 a mutating policy adds what it says', async () => {
    const rules = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }];
    const expression = 'Object{spec: Object.spec{revisionHistoryLimit: object.spec.replicas + 1}}';
    for (const object of [
      {
        kind: 'MutatingAdmissionPolicy',
        metadata: { name: 'history' },
        spec: {
          matchConstraints: { resourceRules: rules },
          reinvocationPolicy: 'Never',
          mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
        },
      },
      { kind: 'MutatingAdmissionPolicyBinding', metadata: { name: 'history' }, spec: { policyName: 'history' } },
    ]) {
      const input = JSON.stringify({ apiVersion: 'admissionregistration.k8s.io/v1', ...object });
      await kubectl.run(['apply', '-f', '-'], { input });
    }
    await kubectl.run('create deployment mutated --image=x --replicas=3');
    expect(await kubectl.run('get deployment mutated -o jsonpath={.spec.revisionHistoryLimit}')).toBe('4');
    await kubectl.run('delete mutatingadmissionpolicybinding history');
  });

  it('API-360 a policy denies in its own words', async () => {
    const admissionregistration = 'admissionregistration.k8s.io/v1';
    const rules = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }];
    await kubectl.run(['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: admissionregistration,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'replicas' },
        spec: {
          matchConstraints: { resourceRules: rules },
          validations: [{ expression: 'object.spec.replicas <= 5', message: 'at most five' }],
        },
      }),
    });
    await kubectl.run(['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: admissionregistration,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'everywhere' },
        spec: { policyName: 'replicas', validationActions: ['Deny'] },
      }),
    });
    const create = (name: string, replicas: string) =>
      kubectl.try(['create', 'deployment', name, '--image=x', `--replicas=${replicas}`]);
    const { code, stderr } = await create('many', '6');
    expect([code, stderr]).toEqual([
      1,
      `error: failed to create deployment: deployments.apps "many" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'everywhere' denied request: at most five\n`,
    ]);
    expect((await create('few', '5')).code).toBe(0);
    expect(await kubectl.run('get validatingadmissionpolicies')).toMatch(
      /^NAME +VALIDATIONS +PARAMKIND +AGE\nreplicas +1 +<unset> +\d+s\n$/,
    );
  });
});
