import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';
import { Kubectl, olderKubectlPaths, kubectlPaths, minorVersionOf } from './kubectl.ts';

/**
 * Section 26 of the API rules, row by row: what kubectl sends for a command, as kubectl itself says at `-v=8`, and what it prints.
 * A row that an older kubectl does not have says since when there is one.
 */
interface Row {
  readonly row: string;
  /** Minor version that brought the command. */
  readonly since?: number;
  readonly prepare?: (flow: Flow) => Promise<unknown>;
  readonly args: string;
  readonly input?: object;
  /** In this order, others may come in between; where a version sends something else, its own. */
  readonly requests: (minor: number) => readonly RegExp[];
  readonly prints: RegExp;
}

interface Flow {
  readonly kubectl: Kubectl;
  readonly api: ApiClient;
}

const configMap = (name: string, data: object = { a: '1' }): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const labels = { app: 'web' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};

const CORE = '/api/v1/namespaces/default';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const make =
  (path: string, object: object) =>
  ({ api }: Flow) =>
    api.send('POST', path, object);
const status =
  (path: string, value: object) =>
  ({ api }: Flow) =>
    api.send('PATCH', `${path}/status`, { status: value }, 'application/merge-patch+json');
/** fieldValidation came with 1.25. */
const strict = (minor: number): string => (minor >= 25 ? '&fieldValidation=Strict' : '');
const openApi = (minor: number): RegExp => (minor >= 27 ? /^GET \/openapi\/v3\?/ : /^GET \/openapi\/v2\?/);
const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[.?+$()[\]{}|\\^]/g, String.raw`\$&`)}$`);

const rows: readonly Row[] = [
  {
    row: 'get x',
    prepare: make(`${CORE}/configmaps`, configMap('seen')),
    args: 'get configmaps',
    requests: () => [exactly(`GET ${CORE}/configmaps?limit=500`)],
    prints: /^NAME +DATA +AGE\n(?:.*\n)*seen +1 /,
  },
  {
    row: 'get x -w',
    args: 'get configmaps -w --request-timeout=2s',
    requests: () => [/configmaps\?limit=500/, /configmaps\?.*resourceVersion=\d+.*watch=true/],
    prints: /^NAME +DATA +AGE\n/,
  },
  {
    row: 'get all',
    prepare: make(DEPLOYMENTS, deployment),
    args: 'get all',
    requests: () => [
      exactly(`GET ${CORE}/pods?limit=500`),
      exactly(`GET ${CORE}/services?limit=500`),
      exactly(`GET ${DEPLOYMENTS}?limit=500`),
    ],
    prints: /^service\/kubernetes [^]*^deployment\.apps\/web /m,
  },
  {
    row: 'create -f',
    args: 'create -f -',
    input: configMap('created'),
    requests: (minor) => [
      openApi(minor),
      exactly(`POST ${CORE}/configmaps?fieldManager=kubectl-create${strict(minor)}`),
    ],
    prints: /^configmap\/created created$/m,
  },
  {
    row: 'create configmap/namespace/…',
    args: 'create configmap generated --from-literal=a=1',
    requests: (minor) => [
      exactly(`POST ${CORE}/configmaps?fieldManager=kubectl-create${strict(minor)}`),
      // API-029: protobuf since 1.32.
      minor >= 32 ? /^> Content-Type: application\/vnd\.kubernetes\.protobuf/ : /^> Content-Type: application\/json/,
    ],
    prints: /^configmap\/generated created$/m,
  },
  {
    row: 'apply -f, first',
    args: 'apply -f -',
    input: configMap('applied'),
    requests: (minor) => [
      openApi(minor),
      exactly(`GET ${CORE}/configmaps/applied`),
      exactly(`POST ${CORE}/configmaps?fieldManager=kubectl-client-side-apply${strict(minor)}`),
    ],
    prints: /^configmap\/applied created$/m,
  },
  {
    row: 'apply -f, again',
    args: 'apply -f -',
    input: configMap('applied', { b: '2' }),
    requests: (minor) => [
      exactly(`GET ${CORE}/configmaps/applied`),
      exactly(`PATCH ${CORE}/configmaps/applied?fieldManager=kubectl-client-side-apply${strict(minor)}`),
      /^> Content-Type: application\/strategic-merge-patch\+json/,
    ],
    prints: /^configmap\/applied configured$/m,
  },
  {
    row: 'apply --server-side',
    args: 'apply --server-side -f -',
    input: configMap('server-side'),
    requests: (minor) => [
      exactly(`PATCH ${CORE}/configmaps/server-side?fieldManager=kubectl${strict(minor)}&force=false`),
      /^> Content-Type: application\/apply-patch\+yaml/,
    ],
    prints: /^configmap\/server-side serverside-applied$/m,
  },
  {
    row: '… --dry-run=server',
    args: 'apply --dry-run=server -f -',
    input: configMap('ghost'),
    requests: (minor) => [
      exactly(`POST ${CORE}/configmaps?dryRun=All&fieldManager=kubectl-client-side-apply${strict(minor)}`),
    ],
    prints: /^configmap\/ghost created \(server dry run\)$/m,
  },
  {
    row: 'delete x n',
    prepare: make(`${CORE}/configmaps`, configMap('doomed')),
    args: 'delete configmap doomed',
    requests: () => [
      exactly('> {"propagationPolicy":"Background"}'),
      exactly(`DELETE ${CORE}/configmaps/doomed`),
      /^GET .*doomed/,
    ],
    prints: /^configmap "doomed" deleted/m,
  },
  {
    row: 'patch',
    args: 'patch configmap seen -p {"data":{"c":"3"}}',
    requests: () => [
      exactly(`GET ${CORE}/configmaps/seen`),
      exactly(`PATCH ${CORE}/configmaps/seen?fieldManager=kubectl-patch`),
    ],
    prints: /^configmap\/seen patched$/m,
  },
  {
    row: 'patch --subresource=status',
    since: 24,
    args: 'patch deployment web --subresource=status -p {"status":{"replicas":1}}',
    requests: () => [
      exactly(`GET ${DEPLOYMENTS}/web/status`),
      exactly(`PATCH ${DEPLOYMENTS}/web/status?fieldManager=kubectl-patch`),
    ],
    prints: /^deployment\.apps\/web patched$/m,
  },
  {
    row: 'annotate',
    args: 'annotate configmap seen note=x',
    requests: () => [exactly(`PATCH ${CORE}/configmaps/seen?fieldManager=kubectl-annotate`)],
    prints: /^configmap\/seen annotated?d?$/m,
  },
  {
    row: 'label',
    args: 'label configmap seen tier=one',
    requests: () => [exactly(`PATCH ${CORE}/configmaps/seen?fieldManager=kubectl-label`)],
    prints: /^configmap\/seen labeled$/m,
  },
  {
    row: 'replace',
    args: 'replace -f -',
    input: configMap('seen', { d: '4' }),
    requests: (minor) => [
      exactly(`GET ${CORE}/configmaps/seen`),
      exactly(`PUT ${CORE}/configmaps/seen?fieldManager=kubectl-replace${strict(minor)}`),
    ],
    prints: /^configmap\/seen replaced$/m,
  },
  {
    row: 'scale',
    args: 'scale deployment web --replicas=3',
    requests: () => [exactly(`GET ${DEPLOYMENTS}/web`), exactly(`PATCH ${DEPLOYMENTS}/web/scale`)],
    prints: /^deployment\.apps\/web scaled$/m,
  },
  {
    row: 'wait --for=…',
    prepare: async (flow) => {
      await make(`${CORE}/pods`, pod)(flow);
      await status(`${CORE}/pods/p`, { conditions: [{ type: 'Ready', status: 'True' }] })(flow);
    },
    args: 'wait --for=condition=Ready pod/p --timeout=120s',
    requests: () => [/\/pods\?.*fieldSelector=metadata\.name%3Dp/],
    prints: /^pod\/p condition met$/m,
  },
  {
    row: 'rollout status',
    prepare: status(`${DEPLOYMENTS}/web`, {
      observedGeneration: 99,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    }),
    args: 'rollout status deployment web --timeout=120s',
    requests: () => [new RegExp(`^GET ${DEPLOYMENTS}\\?.*fieldSelector=metadata\\.name%3Dweb`)],
    prints: /^deployment "web" successfully rolled out$/m,
  },
  {
    row: 'describe',
    args: 'describe pod p',
    requests: () => [
      exactly(`GET ${CORE}/pods/p`),
      new RegExp(`^GET ${CORE}/events\\?fieldSelector=.*involvedObject\\.name%3Dp`),
    ],
    prints: /^Name: +p\n[^]*^Events: +<none>/m,
  },
  {
    row: 'explain',
    args: 'explain deployment.spec.strategy --recursive',
    requests: (minor) =>
      minor >= 29 ? [/^GET \/openapi\/v3\?/, /^GET \/openapi\/v3\/apis\/apps\/v1\?/] : [/^GET \/openapi\/v2\?/],
    prints: /rollingUpdate[^]*maxSurge/,
  },
  {
    row: 'auth can-i',
    args: 'auth can-i delete pods',
    requests: () => [/^POST \/apis\/authorization\.k8s\.io\/v1\/selfsubjectaccessreviews/],
    prints: /^yes$/m,
  },
  {
    row: 'auth whoami',
    since: 28,
    args: 'auth whoami',
    requests: () => [/^POST \/apis\/authentication\.k8s\.io\/v1\/selfsubjectreviews/],
    prints: /system:masters/,
  },
  {
    row: 'events',
    since: 26,
    prepare: make(`${CORE}/events`, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'happened' },
      reason: 'Tested',
      message: 'it happened',
      type: 'Normal',
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    }),
    args: 'events',
    requests: () => [exactly(`GET ${CORE}/events?limit=500`)],
    prints: /Normal +Tested +Pod\/p +it happened/,
  },
  {
    row: 'api-resources',
    args: 'api-resources --cached=false',
    // Aggregated since 1.27: two requests; before, one for each group version.
    requests: (minor) =>
      minor >= 27 ? [/^GET \/api\?/, /^GET \/apis\?/] : [/^GET \/api\?/, /^GET \/apis\/apps\/v1\?/],
    prints: /^deployments +deploy +apps\/v1 +true +Deployment$/m,
  },
  {
    row: 'api-versions',
    args: 'api-versions',
    requests: () => [/^GET \/apis\?/],
    prints: /^apps\/v1$/m,
  },
];

/** `METHOD /path?query` of each request, and its headers and body as `> …`, out of what `-v=8` prints in any version. */
function requestsIn(stderr: string): string[] {
  const found: string[] = [];
  for (const line of stderr.split('\n')) {
    const request =
      /\] (GET|POST|PUT|PATCH|DELETE) https:\/\/[^/]+(\S*)$/.exec(line) ??
      /"Request" verb="(\w+)" url="https:\/\/[^/]+([^"]*)"/.exec(line);
    if (request !== null) found.push(`${request[1]} ${request[2]}`);
    const detail = /^(?:.*\] +|\s+)(Content-Type: .*)$/.exec(line) ?? /(?:Request Body: |^\s+)(\{.*)$/.exec(line);
    if (detail !== null) found.push(`> ${detail[1]}`);
  }
  return found;
}

function inOrder(requests: readonly string[], wanted: readonly RegExp[]): boolean {
  let at = 0;
  for (const request of requests) if (at < wanted.length && wanted[at]?.test(request) === true) at++;
  return at === wanted.length;
}

describe.each([...kubectlPaths(), ...olderKubectlPaths()])('%s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let flow: Flow;
  let minor: number;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    // The rows play the controllers of a Deployment themselves; simulated-pods.test.ts has the real ones.
    const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    command.push('--controllers', '*,-deployment-controller,-replicaset-controller');
    server = new KubegcProcess(command, { cwd: directory.path });
    await server.ready();
    const kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    flow = { kubectl, api: new ApiClient(kubeconfig) };
    minor = await minorVersionOf(kubectl);
  });

  afterAll(async () => {
    flow.api.close();
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  it.each(rows)('API rules: $row', async ({ since = 0, prepare, args, input, requests, prints }) => {
    if (minor < since) {
      // This kubectl says itself that it does not have the command; no row is left out in silence.
      const { code } = await flow.kubectl.try(args.split(' '), { timeoutMs: 60_000 });
      expect(code).not.toBe(0);
      return;
    }
    await prepare?.(flow);
    const file = join(directory.path, 'input.json');
    if (input !== undefined) await writeFile(file, JSON.stringify(input));
    const line = args.split(' ').map((arg) => (arg === '-' ? file : arg));
    const { stdout, stderr } = await flow.kubectl.try([...line, '-v=8'], { timeoutMs: 60_000 });
    const sent = requestsIn(stderr);
    const wanted = requests(minor);
    expect([stdout, sent, inOrder(sent, wanted)]).toEqual([expect.stringMatching(prints), sent, true]);
  });

  it('API-417 API-418 explains a custom resource to its last field, and validates by it', async () => {
    const spec = {
      type: 'object',
      required: ['rooms'],
      properties: {
        rooms: {
          type: 'array',
          items: { type: 'object', properties: { size: { type: 'integer', description: 'In square metres.' } } },
        },
      },
    };
    await make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'houses.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'houses', kind: 'House' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    })(flow);
    const { kubectl } = flow;
    await until('explain', async () => (await kubectl.try(['explain', 'houses.spec.rooms.size'])).code === 0);
    expect(await kubectl.run('explain houses.spec.rooms.size')).toMatch(/FIELD: +size <integer>[^]*In square metres\./);
    expect(await kubectl.run('explain houses --recursive')).toMatch(/rooms\s+<\[\]Object>[^]*size\s+<integer>/);
    const house = { apiVersion: 'example.com/v1', kind: 'House', metadata: { name: 'h' }, spec: { room: [] } };
    const { code, stderr } = await kubectl.try(['create', '-f', '-'], { input: JSON.stringify(house) });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/unknown field "(?:spec\.)?room"/)]);
  });
});

it('knows every row of the table', () => {
  const expected = [
    'get x',
    'get x -w',
    'get all',
    'create -f',
    'create configmap/namespace/…',
    'apply -f, first',
    'apply -f, again',
    'apply --server-side',
    '… --dry-run=server',
    'delete x n',
    'patch',
    'patch --subresource=status',
    'annotate',
    'label',
    'replace',
    'scale',
    'wait --for=…',
    'rollout status',
    'describe',
    'explain',
    'auth can-i',
    'auth whoami',
    'events',
    'api-resources',
    'api-versions',
  ];
  expect(rows.map(({ row }) => row)).toEqual(expected);
  expect(kubectlPaths().length + olderKubectlPaths().length).toBeGreaterThanOrEqual(3);
});
