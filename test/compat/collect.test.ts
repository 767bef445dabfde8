import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { httpProxy, listening, socksProxy } from '../../src/client/http/proxies.fixture.ts';
import { KubegcProcess, kubegcCommand, temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';

/** The collector as a program of its own, over HTTPS, against a server that has none. */
const noCollector = '*,-garbage-collector-controller';
/** An election that is over soon. */
const quick = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const ours = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubegc-collector';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

const kubegc = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(process.execPath, [kubegcCommand, ...args], { env });

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let kubeconfig: string;
let server: KubegcProcess;
let client: ApiClient;
let started: KubegcProcess[];
/** Each test has a namespace of its own. */
let namespace: string;
let tests = 0;

beforeAll(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  server = serverOn('127.0.0.1:0', kubeconfig);
  await server.ready();
  client = new ApiClient(kubeconfig);
});

afterAll(async () => {
  client.close();
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

beforeEach(async () => {
  started = [];
  namespace = `test-${++tests}`;
  expect((await client.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })).status).toBe(201);
});

afterEach(async () => {
  await Promise.all(started.map((each) => each.stop()));
});

function serverOn(listen: string, writeKubeconfig: string): KubegcProcess {
  const data = join(directory.path, `data-of-${writeKubeconfig.replaceAll(/\W/g, '-')}`);
  const flags = ['--listen', listen, '--write-kubeconfig', writeKubeconfig, '--data-dir', data];
  return new KubegcProcess(['up', '--controllers', noCollector, ...flags]);
}

const collector = (...args: string[]): KubegcProcess => collectorOf(kubeconfig, ...args);

function collectorOf(path: string, ...args: string[]): KubegcProcess {
  const process = new KubegcProcess(['collect', '--kubeconfig', path, ...args]);
  started.push(process);
  return process;
}

async function ready(process: KubegcProcess): Promise<KubegcProcess> {
  await process.ready();
  return process;
}

/** Requests one of the collector's own pages. */
async function page(process: KubegcProcess, path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  const url = /debug graph: (\S+)/.exec(process.output)?.[1] ?? '';
  const response = await fetch(`${url}${path}`, { method });
  return { status: response.status, text: await response.text() };
}

const secrets = (): string => `/api/v1/namespaces/${namespace}/secrets`;
const configMaps = (): string => `/api/v1/namespaces/${namespace}/configmaps`;

async function family(size: number): Promise<void> {
  const { body } = await client.send('POST', configMaps(), { metadata: { name: 'owner' } });
  const { uid } = body['metadata'] as { uid: string };
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true };
  for (let index = 0; index < size; index++) {
    const metadata = { name: `dependent-${index}`, ownerReferences: [reference] };
    expect((await client.send('POST', secrets(), { metadata })).status).toBe(201);
  }
}

const deleteOwner = (propagationPolicy: string) =>
  client.send('DELETE', `${configMaps()}/owner`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy });

interface Item {
  readonly metadata: { readonly name: string; readonly ownerReferences?: readonly unknown[] };
}

async function dependents(): Promise<readonly Item[]> {
  return (await client.send('GET', secrets())).body['items'] as readonly Item[];
}

/** Whether so many objects wait for their deletion in the queue of a collector, which takes nothing out of it unless it acts. */
async function waits(running: KubegcProcess, count: number): Promise<boolean> {
  const { text } = await page(running, '/metrics');
  return text.includes(`workqueue_depth{name="garbage_collector_attempt_to_delete"} ${count}\n`);
}

/** Whether a collector that only observes has logged that it would delete a Secret of this test. */
const wouldDelete = ({ output }: KubegcProcess, name: string): boolean =>
  output
    .split('\n')
    .some((line) => line.includes(`object="Secret ${namespace}/${name}"`) && line.includes('would="delete'));

const ownerIsGone = async (): Promise<boolean> => (await client.send('GET', `${configMaps()}/owner`)).status === 404;
const allAreGone = async (): Promise<boolean> => (await dependents()).length === 0 && (await ownerIsGone());

const holder = async (): Promise<unknown> =>
  ((await client.send('GET', ours)).body['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity;

describe('kubegc collect', () => {
  it('COL-211 collects over HTTPS, what was deleted before it ran too, in all three ways', async () => {
    await family(5);
    await deleteOwner('Background');
    await ready(collector('--mode', 'collect', ...quick));
    await until('the dependents of before are gone', allAreGone);
    for (const policy of ['Background', 'Foreground']) {
      await family(5);
      await deleteOwner(policy);
      await until(`the dependents are gone (${policy})`, allAreGone);
    }
    await family(5);
    await deleteOwner('Orphan');
    await until('the owner is gone', ownerIsGone);
    const left = await dependents();
    expect(left).toHaveLength(5);
    expect(left.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  });

  it.each([
    ['HTTP', httpProxy, 'http://me:p%40ss@'],
    ['SOCKS 5', socksProxy, 'socks5://'],
  ] as const)('collects through a proxy of %s', async (_what, proxyOf, prefix) => {
    const asked: string[] = [];
    const proxy = await listening(proxyOf(asked));
    try {
      const through = join(directory.path, `through-${namespace}`);
      const proxyUrl = `proxy-url: ${prefix}127.0.0.1:${proxy.port}`;
      const text = readFileSync(kubeconfig, 'utf8').replace(/^( *)server: .*/m, `$&\n$1${proxyUrl}`);
      await writeFile(through, text.replace('https://127.0.0.1:', 'https://localhost:'));
      await family(5);
      await ready(collectorOf(through, '--mode', 'collect', ...quick));
      await deleteOwner('Background');
      await until('the dependents are gone', allAreGone);
      expect(new Set(asked.map((address) => address.split(':')[0]))).toEqual(new Set(['localhost']));
    } finally {
      proxy.close();
    }
  });

  it('shows health, metrics and its graph, and says why it did what it did', async () => {
    const running = collector('--mode', 'collect', '--bind-address', '127.0.0.1:0', '--explain-every-action', ...quick);
    await ready(running);
    await until('the lease is taken', async () => running.output.includes('acquired the lease'));
    await family(1);
    await until('the graph has them', async () => {
      const graph = await page(running, '/debug/controllers/garbage-collector-controller/graph');
      return graph.text.includes('name="dependent-0"');
    });
    await deleteOwner('Background');
    await until('the dependents are gone', allAreGone);
    expect((await page(running, '/healthz')).text).toBe('ok');
    expect((await page(running, '/readyz')).text).toBe('ok');
    expect(await holder()).toMatch(new RegExp(`^${hostname()}_[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$`));
    const debug = '/debug/controllers/garbage-collector-controller';
    const check = await page(running, `${debug}/consistency`, 'POST');
    expect(check.status).toBe(200);
    expect(JSON.parse(check.text)).toMatchObject({ complete: true, differences: [] });
    const rescan = await page(running, `${debug}/rescan`, 'POST');
    expect(rescan.status).toBe(202);
    expect((JSON.parse(rescan.text) as { listing: string[] }).listing).toContain('/v1/secrets (Secret)');
    const { text } = await page(running, '/metrics');
    expect(text).toMatch(/^leader_election_master_status\{name="kubegc-collector"\} 1$/m);
    expect(text).toMatch(/^kubegc_collector_acting 1$/m);
    expect(text).toMatch(/^kubegc_collector_deletions_total\{resource="secrets",policy="Background"\} 1$/m);
    expect(running.output).toMatch(
      /INFO +None of its owners exists\. .*object="Secret test-\d+\/dependent-0".*did="delete \(Background\)" answered=deleteAccepted reason=ownersAbsent/,
    );
  });

  it('logs each deletion and patch with its reason at --log-level debug, as JSON too', async () => {
    const lines = (running: { readonly output: string }): Record<string, unknown>[] =>
      running.output
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ namespace: where }) => where === namespace);
    const running = await ready(
      collector('--mode', 'collect', '--log-level', 'debug', '--log-format', 'json', ...quick),
    );
    await family(1);
    await deleteOwner('Background');
    await until('the dependents are gone', allAreGone);
    await until('the deletion is told of', async () => lines(running).some(({ msg }) => msg === 'deleted an object'));
    expect(lines(running).filter(({ msg }) => msg === 'deleted an object')).toEqual([
      expect.objectContaining({
        level: 'debug',
        kind: 'Secret',
        name: 'dependent-0',
        uid: expect.any(String),
        policy: 'Background',
        reason: 'ownersAbsent',
        answered: 'deleteAccepted',
      }),
    ]);
    await family(1);
    await deleteOwner('Orphan');
    await until('the owner is gone', ownerIsGone);
    await until('the patches are told of', async () => lines(running).some(({ change }) => change === 'orphan'));
    const patches = lines(running).filter(({ msg }) => msg === 'patched an object');
    expect(patches.map(({ change, reason }) => [change, reason])).toEqual([
      ['removeReferences', 'ownerOrphaned'],
      ['orphan', 'dependentsReleased'],
    ]);
  });

  it('COL-174 COL-014 holds itself to --kube-api-qps, ignores the resources of its flag, and works without an election', async () => {
    await client.send('DELETE', ours);
    await family(40);
    const garbage = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never' };
    const ignored = { metadata: { name: 'ignored', ownerReferences: [garbage] }, spec: { limits: [] } };
    const limitRanges = `/api/v1/namespaces/${namespace}/limitranges`;
    expect((await client.send('POST', limitRanges, ignored)).status).toBe(201);
    const flags = ['--kube-api-qps=20', '--kube-api-burst=1', '--gc-ignored-resources=limitranges'];
    await ready(collector('--mode=collect', '--leader-elect=false', ...flags));
    const began = performance.now();
    await deleteOwner('Foreground');
    await until('the dependents are gone', allAreGone);
    // The rate is a bound: forty deletions are 39 pauses of 50 ms.
    expect(performance.now() - began).toBeGreaterThan(1900);
    expect((await client.send('GET', ours)).status).toBe(404);
    expect((await client.send('GET', `${limitRanges}/ignored`)).status).toBe(200);
  });
});

describe('kubegc collect --mode observe', () => {
  it('keeps the graph and writes nothing at all, not even a lease', async () => {
    const observer = await ready(
      collector('--mode', 'observe', '--explain-every-action', '--bind-address', '127.0.0.1:0'),
    );
    await client.send('DELETE', ours);
    await family(3);
    await deleteOwner('Foreground');
    const before = await client.send('GET', '/api/v1/secrets?limit=1');
    await until('the graph shows that the owner waits', async () => {
      const graph = await page(observer, '/debug/controllers/garbage-collector-controller/graph');
      return graph.text.includes('deletingDependents="true"');
    });
    await until('it has decided about each dependent', () =>
      [0, 1, 2].every((index) => wouldDelete(observer, `dependent-${index}`)),
    );
    expect(await dependents()).toHaveLength(3);
    expect(await ownerIsGone()).toBe(false);
    expect((await client.send('GET', ours)).status).toBe(404);
    const version = (answer: typeof before) => (answer.body['metadata'] as { resourceVersion: string }).resourceVersion;
    expect(version(await client.send('GET', '/api/v1/secrets?limit=1'))).toBe(version(before));
    const { text } = await page(observer, '/metrics');
    const methods = [...text.matchAll(/^rest_client_requests_total\{.*method="(\w+)"/gm)].map((match) => match[1]);
    expect(new Set(methods)).toEqual(new Set(['GET']));
    expect(text).toMatch(/^kubegc_collector_acting 0$/m);
    // It decides all the same, and says what it would do.
    expect(text).toContain('kubegc_collector_decisions_total{');
    await observer.stop();
    // A collector that comes after it finds everything as it was.
    await ready(collector('--mode', 'collect', ...quick));
    await until('the dependents are gone', allAreGone);
  });
});

describe('kubegc collect --mode auto', () => {
  it('COL-204 observes while kube-controller-manager renews its lease, and when there is none, and says so', async () => {
    const name = 'kube-controller-manager';
    const spec = (renewal: number) => ({
      holderIdentity: 'master-1_x',
      leaseDurationSeconds: 15,
      renewTime: `2026-01-01T00:00:${String(renewal).padStart(2, '0')}.000000Z`,
    });
    await client.send('POST', leases, { metadata: { name }, spec: spec(0) });
    const running = await ready(collector('--mode', 'auto', '--bind-address', '127.0.0.1:0', ...quick));
    await until('it has seen the lease', async () =>
      running.output.includes('not known whether another collector runs'),
    );
    await client.send('PATCH', `${leases}/${name}`, { spec: spec(1) }, 'application/merge-patch+json');
    await until('it knows', async () =>
      /another collector runs, observing only.*kube-system\/kube-controller-manager.*master-1_x/.test(running.output),
    );
    await family(2);
    await deleteOwner('Background');
    await until('it has seen both', () => waits(running, 2));
    expect(await dependents()).toHaveLength(2);
    expect(running.output).not.toContain('acquired the lease');
    await client.send('DELETE', `${leases}/${name}`);
    await until('it says that no lease is no proof', async () => /observing only.*reason=noLease/.test(running.output));
    expect(running.output).toContain('--probe NAMESPACE');
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never' };
    await client.send('POST', secrets(), { metadata: { name: 'later', ownerReferences: [reference] } });
    await until('it has seen later garbage', () => waits(running, 3));
    expect(await dependents()).toHaveLength(3);
    expect(running.output).not.toContain('acquired the lease');
  });
});

describe('kubegc collect without a mode', () => {
  it('only observes, also where nothing else collects, and says what it would delete', async () => {
    const running = await ready(collector('--explain-every-action', ...quick));
    await family(2);
    await deleteOwner('Background');
    await until('it has decided about both', () => [0, 1].every((index) => wouldDelete(running, `dependent-${index}`)));
    expect(await dependents()).toHaveLength(2);
    expect(running.output).toContain('observing only');
    expect(running.output).toMatch(/object="Secret .*would="delete \(Background\)"/);
  });
});

describe('kubegc collect --mode collect beside the collector of kubegc up', () => {
  it('COL-204 says so and stands by', async () => {
    await using own = await temporaryDirectory();
    const file = join(own.path, 'kubeconfig');
    const flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', file];
    const server = new KubegcProcess(['up', ...flags]);
    await server.ready();
    const running = new KubegcProcess(['collect', '--kubeconfig', file, '--mode', 'collect', ...quick]);
    await running.ready();
    await until('it says so', async () =>
      /another collector runs, observing only.*reason=embedded/.test(running.output),
    );
    expect(running.output).not.toContain('acquired the lease');
    await running.stop();
    await server.stop();
  });
});

/** Deletions of Secrets that the server refused, as it counts them. */
async function refusedDeletes(): Promise<readonly string[]> {
  const text = String((await client.send('GET', '/metrics')).body['text']);
  const counted = text.split('\n').filter((line) => line.startsWith('apiserver_request_total{'));
  return counted.filter((line) => /verb="DELETE".*resource="secrets".*code="4/.test(line));
}

describe('kubegc collect --mode auto --probe', () => {
  const probes = async (): Promise<readonly Item[]> => {
    const { body } = await client.send('GET', configMaps());
    return (body['items'] as readonly Item[]).filter(({ metadata }) => metadata.name.startsWith('kubegc-probe-'));
  };

  it('observes beside a collector without a lease that is known, and says that somebody deleted its probe', async () => {
    await ready(collector('--mode', 'collect', '--leader-elect=false'));
    const one = await ready(
      collector('--mode', 'auto', '--probe', namespace, '--bind-address', '127.0.0.1:0', ...quick),
    );
    await until('it observes', async () => one.output.includes('somebody deleted the probe'));
    expect(one.output).toMatch(/INFO {2}another collector runs, observing only .*reason=probeCollected/);
    expect((await page(one, '/metrics')).text).toMatch(/^kubegc_collector_acting 0$/m);
    expect(await probes()).toEqual([]);
  });

  it('collects where nobody deletes its probe, and takes it away before', async () => {
    const one = await ready(collector('--mode', 'auto', '--probe', namespace, ...quick));
    await until('the probe is there', async () => (await probes()).length === 1);
    expect(one.output).not.toContain('acquired the lease');
    await until('it leads', async () => one.output.includes('acquired the lease'));
    expect(one.output).toContain('nobody deleted the probe');
    expect(await probes()).toEqual([]);
    await family(5);
    await deleteOwner('Foreground');
    await until('the cascade is done', allAreGone);
  });
});

describe('two collectors', () => {
  it('COL-214 COL-215 the leader is killed in the middle of a cascade, the other one finishes it', async () => {
    const one = await ready(collector('--mode', 'collect', '--kube-api-qps', '100', '--kube-api-burst', '1', ...quick));
    await until('the first one leads', async () => one.output.includes('acquired the lease'));
    const two = await ready(collector('--mode', 'collect', '--bind-address', '127.0.0.1:0', ...quick));
    await until('the second one stands by', async () => two.output.includes('standing by'));
    await family(300);
    await deleteOwner('Foreground');
    await until('the cascade is under way', async () => (await dependents()).length < 280);
    one.kill('SIGKILL');
    await one.ended;
    const left = (await dependents()).length;
    expect(left).toBeGreaterThan(0);
    expect((await page(two, '/metrics')).text).toMatch(/^kubegc_collector_acting 0$/m);
    await until('the other one has finished', allAreGone);
    expect(two.output).toContain('acquired the lease');
  });

  it('COL-214 a leader that is stalled in the middle of a cascade writes nothing when it wakes after another one led', async () => {
    const slow = ['--kube-api-qps', '100', '--kube-api-burst', '1'];
    const one = await ready(collector('--mode', 'collect', '--bind-address', '127.0.0.1:0', ...slow, ...quick));
    await until('the first one leads', async () => one.output.includes('acquired the lease'));
    const two = await ready(collector('--mode', 'collect', ...quick));
    await family(300);
    await deleteOwner('Background');
    await until('the cascade is under way', async () => (await dependents()).length < 280);
    one.kill('SIGSTOP');
    await until('the other one has finished', allAreGone);
    expect(two.output).toContain('acquired the lease');
    // A delete after the stop meets objects that are gone. The rate lets one request pass at a time, so at most one had passed its last
    // check when the process stopped, and is sent when it wakes.
    const countOf = (lines: readonly string[]): number =>
      lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    const refused = countOf(await refusedDeletes());
    one.kill('SIGCONT');
    await until('it knows that it lost', async () => one.output.includes('lost the lease'));
    await until('it stands by', async () => one.output.includes('another one holds the lease, standing by'));
    expect(countOf(await refusedDeletes())).toBeLessThanOrEqual(refused + 1);
    const { text } = await page(one, '/metrics');
    expect(text).toMatch(/^kubegc_collector_acting 0$/m);
  });

  it('COL-215 SIGTERM releases the lease, and the other one acquires it without waiting until it expires', async () => {
    const long = [
      '--leader-elect-lease-duration=1h',
      '--leader-elect-renew-deadline=10s',
      '--leader-elect-retry-period=500ms',
    ];
    const one = await ready(collector('--mode', 'collect', ...long));
    await until('the first one leads', async () => one.output.includes('acquired the lease'));
    const two = await ready(collector('--mode', 'collect', ...long));
    const { code } = await one.stop();
    expect(code).toBe(0);
    expect(one.output).toContain('released the lease');
    await until('the second one leads', async () => two.output.includes('acquired the lease'));
    await family(2);
    await deleteOwner('Background');
    await until('the dependents are gone', allAreGone);
    expect((await two.stop()).code).toBe(0);
    expect(await holder()).toBe('');
  });
});

it('explains itself, and is completed', async () => {
  const { stdout } = await kubegc(['collect', '--help']);
  expect(stdout).toContain('curl http://127.0.0.1:10257/');
  expect(stdout.indexOf('Common flags:')).toBeLessThan(stdout.indexOf('Leader election:'));
  const { stdout: script } = await kubegc(['completion', 'bash']);
  const typed = `${script}\nCOMP_WORDS=(kubegc collect --mo) COMP_CWORD=2; _kubegc; echo "\${COMPREPLY[@]}"`;
  expect((await runCommand('bash', ['-c', typed])).stdout).toBe('--mode\n');
});

describe('a server that goes away', () => {
  it('COL-048 is one line for all watches, and one when it is back; then the work goes on', async () => {
    const own = join(directory.path, 'away.kubeconfig');
    const first = serverOn('127.0.0.1:0', own);
    await first.ready();
    const listen = new URL(/server: (\S+)/.exec(readFileSync(own, 'utf8'))?.[1] ?? '').host;
    const one = new KubegcProcess(['collect', '--kubeconfig', own, '--mode', 'collect', ...quick]);
    started.push(one);
    await ready(one);
    await until('it leads', async () => one.output.includes('acquired the lease'));
    first.kill('SIGKILL');
    await first.ended;
    await until('it says so', async () => one.output.includes('the API server does not answer'));
    const second = serverOn(listen, own);
    started.push(second);
    await second.ready();
    await until('it says that it is back', async () => one.output.includes('the API server answers again'));
    const warnings = one.output.split('\n').filter((line) => line.includes(' WARN '));
    expect(warnings.filter((line) => line.includes('watches=')).length).toBe(1);
    // Besides: the lease that could not be renewed and was lost, and perhaps discovery. Each may be repeated while the server is away.
    const messages = new Set(warnings.map((line) => / WARN +(.*?)(?: {2}|$)/.exec(line)?.[1]));
    expect(messages).not.toContain(undefined);
    expect(messages.size).toBeLessThan(6);
    const of = new ApiClient(own);
    const { body } = await of.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'owner' } });
    const { uid } = body['metadata'] as { uid: string };
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    const path = '/api/v1/namespaces/default/secrets';
    await of.send('POST', path, { metadata: { name: 'd', ownerReferences: [reference] } });
    await of.send('DELETE', '/api/v1/namespaces/default/configmaps/owner');
    await until('it collects', async () => (await of.send('GET', `${path}/d`)).status === 404);
    of.close();
  });
});

describe('kubegc collect that cannot', () => {
  it.each([
    [['--mode', 'destroy'], /'destroy' is invalid\. Allowed choices are observe, auto, collect/],
    [['--concurrent-gc-syncs', 'many'], /invalid --concurrent-gc-syncs "many"\nGive a whole number/],
    [['--leader-elect-renew-deadline', '15s'], /leaseDuration must be greater than renewDeadline/],
    [['--leader-elect-resource-name', 'kube-controller-manager'], /is that of kube-controller-manager/],
    [
      ['--bind-address', '0.0.0.0:0'],
      /--bind-address 0\.0\.0\.0:0 can be reached from other machines.*\n.*--bind-token-file/,
    ],
    [['--bind-address', 'nonsense'], /invalid --bind-address address "nonsense"/],
    [
      ['--bind-address', '127.0.0.1:0', '--bind-token-file', '/does/not/exist'],
      /cannot read the token file \/does\/not\/exist: no such file/,
    ],
    [['--bind-token-file', '/does/not/exist'], /--bind-token-file does nothing without --bind-address/],
    [['--explain-every-action', '--log-level', 'error'], /--explain-every-action logs at level info/],
    [['--probe', 'default'], /--probe does nothing with --mode observe\nGive --mode auto/],
    [['--context', 'other'], /cannot find out which cluster to use: context "other" does not exist\nGive --kubeconfig/],
    [['--kubeconfig', '/does/not/exist'], /cannot find out which cluster to use: \/does\/not\/exist: .*no such file/],
    [['extra'], /too many arguments/],
  ])('says what is wrong and what to do: %o', async (args, message) => {
    const { code, stderr, stdout } = await kubegc(['collect', '--kubeconfig', kubeconfig, ...args]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('has no cluster: neither kubeconfig nor pod', async () => {
    const { code, stderr } = await kubegc(['collect'], {
      HOME: directory.path,
      KUBECONFIG: '',
      KUBERNETES_SERVICE_HOST: '',
    });
    expect(stderr).toContain('no configuration: neither --kubeconfig, KUBECONFIG nor ~/.kube/config');
    expect(code).toBe(1);
  });

  it('has credentials the server does not know (401)', async () => {
    const file = join(directory.path, 'stranger');
    const stranger = readFileSync(kubeconfig, 'utf8')
      .replace(/^.*client-(certificate|key)-data:.*\n/gm, '')
      .replace(/token: .*/, 'token: wrong');
    await writeFile(file, stranger);
    const { code, stderr } = await kubegc(['collect', '--kubeconfig', file]);
    expect(stderr).toMatch(
      /https:\/\/127\.0\.0\.1:\d+ does not know who asks: Unauthorized\nThe credentials of context kubegc/,
    );
    expect(code).toBe(1);
  });

  it('cannot trust the server', async () => {
    const file = join(directory.path, 'distrust');
    await writeFile(file, readFileSync(kubeconfig, 'utf8').replace(/^.*certificate-authority-data:.*\n/m, ''));
    const { code, stderr } = await kubegc(['collect', '--kubeconfig', file]);
    expect(stderr).toMatch(/cannot trust https:\/\/127\.0\.0\.1:\d+: .*\nThe certificate authority of context kubegc/);
    expect(code).toBe(1);
  });

  it('waits for a server that is not there yet, with a line at each try; SIGTERM ends the waiting', async () => {
    const file = join(directory.path, 'later');
    const first = serverOn('127.0.0.1:0', file);
    await first.ready();
    const address = /127\.0\.0\.1:\d+/.exec(first.output)?.[0] ?? '';
    await first.stop();
    const waiting = new KubegcProcess(['collect', '--kubeconfig', file, '--bind-address', '127.0.0.1:0']);
    const impatient = new KubegcProcess(['collect', '--kubeconfig', file]);
    started.push(waiting, impatient);
    const line = /WARN +the API server does not answer, will retry .*ECONNREFUSED/g;
    await until('two tries of each', async () =>
      [waiting, impatient].every(({ output }) => (output.match(line) ?? []).length >= 2),
    );
    expect(await page(waiting, '/healthz')).toEqual({ status: 200, text: 'ok' });
    expect((await page(waiting, '/readyz')).text).toBe('not ready: the API server has not answered yet');
    expect((await impatient.stop()).code).toBe(0);
    const second = serverOn(address, file);
    started.push(second);
    await second.ready();
    await waiting.ready();
    expect((await page(waiting, '/readyz')).status).toBe(200);
    await waiting.stop();
  });
});
