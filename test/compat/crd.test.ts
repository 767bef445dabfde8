import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** Custom resources as a person meets them, with every kubectl, against the built program. */
const definitions = join(import.meta.dirname, '../fixtures/garden-crd.yaml');
const garden = join(import.meta.dirname, '../fixtures/garden.yaml');
/** Definitions of real operators, where they are at hand. */
const manifests = join(import.meta.dirname, '../../../shared/manifests');
const operators = existsSync(manifests)
  ? readdirSync(manifests)
      .filter((name) => /^(?:gateway-api|cert-manager)-.*\.yaml$/.test(name))
      .map((name) => join(manifests, name))
  : [];

describe.each(kubectlPaths())('%s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;
  let args: string[];

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const data = join(directory.path, 'data');
    args = ['up', '--listen', '127.0.0.1:0', '--data-dir', data, '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess(args);
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    await server.ready();
  });

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  const refused = async (yaml: string): Promise<string> => {
    const { code, stderr } = await kubectl.try(['apply', '-f', '-'], { input: yaml });
    expect(code).toBe(1);
    return stderr;
  };
  const plant = (name: string, spec: string): string =>
    `apiVersion: garden.example.com/v1\nkind: Plant\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

  it('API-453 API-454 defines, waits, and creates', async () => {
    await kubectl.run(`apply -f ${definitions}`);
    expect(await kubectl.run(`wait --for=condition=Established -f ${definitions}`)).toBe(
      'customresourcedefinition.apiextensions.k8s.io/beds.garden.example.com condition met\n' +
        'customresourcedefinition.apiextensions.k8s.io/plants.garden.example.com condition met\n',
    );
    expect(await kubectl.run(`apply -f ${garden}`)).toBe(
      'bed.garden.example.com/north created\nplant.garden.example.com/rose created\nplant.garden.example.com/fern created\n',
    );
    expect(await kubectl.run('api-resources --api-group=garden.example.com')).toMatch(
      /^beds +garden\.example\.com\/v1 +false +Bed\nplants +pl +garden\.example\.com\/v1 +true +Plant$/m,
    );
    expect(await kubectl.run(`apply -f ${definitions}`)).toMatch(
      /beds\.garden\.example\.com unchanged\n.*unchanged\n$/,
    );
  });

  it('API-435 API-469 shows columns, by short name and category, selected by fields', async () => {
    expect(await kubectl.run('get pl')).toMatch(
      /^NAME +COLOUR +COUNT +AGE\nfern +green +3 +\d+s\nrose +red +1 +\d+s\n$/,
    );
    expect(await kubectl.run('get green -o wide')).toMatch(
      /^NAME +COLOUR +COUNT +SOIL +AGE\nfern +green +3 +\d+s\nrose +red +1 +loam +\d+s\n$/,
    );
    expect(await kubectl.run('get beds')).toMatch(/^NAME +AGE\nnorth +\d+s\n$/);
    expect(await kubectl.run('get plants --field-selector=spec.colour=red -o name')).toBe(
      'plant.garden.example.com/rose\n',
    );
    expect(await kubectl.run('get plants.v1beta1.garden.example.com rose -o jsonpath={.apiVersion}')).toBe(
      'garden.example.com/v1beta1',
    );
    expect((await kubectl.try(['get', 'plants.v1beta1.garden.example.com'])).stderr).toContain(
      'Warning: garden.example.com/v1beta1 Plant is deprecated; use garden.example.com/v1 Plant',
    );
  });

  it('API-417 explains', async () => {
    const text = await kubectl.run('explain plant.spec');
    expect(text).toMatch(/^GROUP: +garden\.example\.com\nKIND: +Plant\nVERSION: +v1$/m);
    expect(text).toContain('What should grow.');
    expect(text).toMatch(/colour\t<string> -required-\n(?: {2}enum: red, green\n)? +The colour it shows\./);
    expect(await kubectl.run('explain plant.metadata.finalizers')).toContain('finalizers <[]string>');
  });

  it('API-234 API-460 refuses what the schema does not allow, in words', async () => {
    expect(await refused(plant('a', '{colour: blue, count: -1}'))).toBe(
      'The Plant "a" is invalid: \n' +
        '* spec.colour: Unsupported value: "blue": supported values: "red", "green"\n' +
        '* spec.count: Invalid value: -1: spec.count in body should be greater than or equal to 0\n' +
        '* .spec.count: Invalid value: -1: should be a non-negative integer\n',
    );
    expect(await refused(plant('a', '{colour: red, size: 3}'))).toMatch(
      /strict decoding error: unknown field "spec\.size"/,
    );
    expect(await refused(plant('a', '{}'))).toContain('spec.colour: Required value');
  });

  it('API-465 API-467 scales and sets status', async () => {
    expect(await kubectl.run('scale plant rose --replicas=5')).toBe('plant.garden.example.com/rose scaled\n');
    expect(await kubectl.run('get plant rose -o jsonpath={.spec.count}/{.metadata.generation}')).toBe('5/2');
    const status = '{"status":{"phase":"Blooming","count":5}}';
    await kubectl.run(['patch', 'plant', 'rose', '--subresource=status', '--type=merge', '-p', status]);
    expect(await kubectl.run('get plant rose -o jsonpath={.status.phase}/{.metadata.generation}')).toBe('Blooming/2');
    await kubectl.run('wait --for=jsonpath={.status.phase}=Blooming plant/rose');
    await kubectl.run('label plant rose watered=yes');
    expect(await kubectl.run('get plants -l watered=yes -o name')).toBe('plant.garden.example.com/rose\n');
  });

  it('API-474 COL-101 owns and is owned', async () => {
    const uid = await kubectl.run('get bed north -o jsonpath={.metadata.uid}');
    const owners = [{ apiVersion: 'garden.example.com/v1', kind: 'Bed', name: 'north', uid, blockOwnerDeletion: true }];
    await kubectl.run([
      'patch',
      'plant',
      'fern',
      '--type=merge',
      '-p',
      JSON.stringify({ metadata: { ownerReferences: owners } }),
    ]);
    await kubectl.run('delete bed north --cascade=foreground --timeout=120s');
    expect(await kubectl.run('get plants -o name')).toBe('plant.garden.example.com/rose\n');
  });

  it('API-454 are there again after a restart', async () => {
    await server.stop();
    server = new KubegcProcess(args);
    await server.ready();
    expect(await kubectl.run('get pl rose -o jsonpath={.spec.count}')).toBe('5');
  });

  it('API-456 API-458 the definition goes, and its objects with it', async () => {
    expect(await kubectl.run('delete crd plants.garden.example.com --timeout=120s')).toContain(
      'customresourcedefinition.apiextensions.k8s.io "plants.garden.example.com" deleted',
    );
    const gone = await kubectl.try(['get', 'plants']);
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringMatching(/the server (?:doesn't have a resource type|could not find the requested resource)/),
    ]);
    await kubectl.run(`apply -f ${definitions}`);
    await kubectl.run(`wait --for=condition=Established -f ${definitions}`);
    expect(await kubectl.run('get plants -o name')).toBe('');
    await kubectl.run(`delete -f ${definitions} --timeout=120s`);
  });

  it('API-454 up -f takes definitions and their objects from files', async () => {
    await using other = await temporaryDirectory();
    const kubeconfig = join(other.path, 'kubeconfig');
    const listen = ['--listen', '127.0.0.1:0', '--store', 'memory', '--write-kubeconfig', kubeconfig];
    const filled = new KubegcProcess(['up', ...listen, '-f', garden, '-f', definitions]);
    await filled.ready();
    const reader = new Kubectl({ path, kubeconfig, home: other.path });
    expect(await reader.run('get beds,plants -o name')).toBe(
      'bed.garden.example.com/north\nplant.garden.example.com/fern\nplant.garden.example.com/rose\n',
    );
    await filled.stop();
  });

  it.skipIf(operators.length === 0)('real operators: their definitions are served, explained and deleted', async () => {
    const files = operators.flatMap((file) => ['-f', file]);
    await kubectl.run(['apply', ...files]);
    await kubectl.run(['wait', '--for=condition=Established', ...files]);
    for (const kind of ['gatewayclasses', 'gateways', 'httproutes', 'certificates', 'certificaterequests', 'orders']) {
      expect(await kubectl.run(`get ${kind} -A -o name`)).toBe('');
      expect(await kubectl.run(`explain ${kind}.spec --recursive`)).toContain('FIELDS:');
    }
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'r' },
      spec: { hostnames: ['a.example.com'], rules: [{ backendRefs: [{ name: 'svc', port: 80 }] }] },
    };
    await kubectl.run(['apply', '-f', '-'], { input: JSON.stringify(route) });
    expect(await kubectl.run('get httproute r -o jsonpath={.spec.rules[0].matches[0].path.type}')).toBe('PathPrefix');
    expect(await kubectl.run('get httproutes')).toMatch(/^NAME +HOSTNAMES +AGE\nr +\["a\.example\.com"\] +\d+s\n$/);
    await kubectl.run(['delete', '--timeout=60s', ...files]);
  });
});
