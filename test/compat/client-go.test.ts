import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { debianGoEnv, unpackedGo } from './debian-go.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';

/**
 * A Go program on real client-go (`test/compat/go`), built here and run against the built program. It prints one line a
 * check; here each has the rules that it proves.
 */
const source = join(import.meta.dirname, 'go');

/** Compiling client-go takes two minutes of processor time. */
const BUILD_MS = 15 * 60_000;
const RUN_MS = 8 * 60_000;

const checks: readonly (readonly [check: string, proves: string])[] = [
  ['typed/crud', 'API-561 API-520 typed clients create, read, update, list and delete in protobuf'],
  ['typed/json', 'API-020 the same object in JSON and protobuf'],
  ['typed/round-trip', 'API-521 defaults, zeros and quantities come through the real decoder'],
  ['typed/patches', 'API-193 API-194 API-195 JSON, merge and strategic patches'],
  ['typed/errors', 'API-040 API-094 API-153 errors are those that client-go tells apart'],
  ['typed/retry-on-conflict', 'API-171 concurrent updates with retry lose nothing'],
  ['typed/every-group', 'API-091 lists of every kind that client-go knows'],
  ['typed/dry-run', 'API-236 a dry run leaves nothing'],
  ['dynamic/built-in', 'API-561 the dynamic client on built-in kinds'],
  ['dynamic/custom-resource', 'API-190 API-397 custom resources from definition to gone'],
  ['dynamic/status', 'API-330 status of custom resources'],
  ['metadata/built-in', 'API-524 API-566 the metadata client, in protobuf'],
  ['metadata/custom-resource', 'API-566 the metadata client on custom resources'],
  ['list/pages', 'API-096 API-097 pages with continue tokens are of one moment'],
  ['list/pager', 'API-096 the pager of client-go'],
  ['list/resource-versions', 'API-093 API-100 lists by resource version'],
  ['watch/events', 'API-121 API-126 what a watch tells'],
  ['watch/selector', 'API-125 objects that start and stop to match'],
  ['watch/bookmarks', 'API-128 a bookmark comes before the end'],
  ['watch/initial-events', 'API-129 the first state and the mark of its end'],
  ['watch/timeout', 'API-127 a watch ends in time'],
  ['watch/until', 'API-122 UntilWithSync'],
  ['informer/typed', 'API-129 API-560 shared informers by WatchList'],
  ['informer/dynamic', 'API-560 dynamic informers'],
  ['informer/metadata', 'API-134 API-560 metadata informers, by a protobuf stream'],
  ['informer/list-and-watch', 'API-560 informers that list first, as before client-go 1.35'],
  ['apply/create-and-remove', 'API-210 API-214 server-side apply by typed configurations'],
  ['apply/conflict', 'API-213 conflicts, shared fields, force'],
  ['apply/extract', 'API-215 API-418 what a manager applied is read back, typed and by /openapi/v2'],
  ['apply/status', 'API-210 apply to /status'],
  ['apply/scale', 'API-210 API-331 apply to /scale'],
  ['apply/custom-resource', 'API-222 apply to custom resources with list maps'],
  ['apply/from-client-side', 'API-221 from client-side to server-side apply'],
  ['delete/background', 'API-250 COL-101 background deletion'],
  ['delete/foreground', 'COL-062 COL-102 foreground deletion'],
  ['delete/orphan', 'COL-120 COL-122 orphans'],
  ['delete/finalizer', 'API-072 API-251 finalizers'],
  ['delete/preconditions', 'API-242 preconditions'],
  ['delete/collection', 'API-270 deletion of a collection'],
  ['delete/namespace', 'LIFE-440 deletion of a namespace'],
  ['delete/custom-owner', 'COL-101 a custom resource as the owner'],
  ['subresource/status', 'API-330 status'],
  ['subresource/scale', 'API-331 scale'],
  ['subresource/scale-any', 'API-467 the scale client on custom resources'],
  ['subresource/binding', 'API-316 binding'],
  ['subresource/eviction', 'API-317 eviction under a disruption budget'],
  ['subresource/finalize', 'API-306 finalize of a namespace'],
  ['discovery/aggregated', 'API-393 API-562 aggregated discovery in two requests'],
  ['discovery/legacy', 'API-391 the older form says the same'],
  ['discovery/rest-mapper', 'API-562 RESTMapper and short names'],
  ['discovery/openapi-v2', 'API-418 models of every kind from the v2 document'],
  ['discovery/openapi-v3', 'API-410 API-411 the v3 documents'],
  ['identity/reviews', 'API-373 reviews of oneself'],
  ['identity/impersonation', 'API-375 API-376 impersonation and roles'],
  ['identity/service-account', 'API-375 API-377 the token of a service account'],
  ['identity/anonymous', 'API-371 a wrong token'],
  ['events/core', 'API-564 the recorder counts by patch'],
  ['events/new', 'API-564 the recorder of events.k8s.io'],
  ['webhook/as-envtest-installs', 'API-350 API-352 a webhook with an unclean path, trusted by its own certificate'],
  ['leader/election', 'API-563 leader election by Lease'],
  ['restart/watch-and-informer', 'API-123 API-137 watches and informers go on after a restart of the server'],
];

async function build(output: string): Promise<void> {
  await promisify(execFile)(join(unpackedGo(), 'go/bin/go'), ['build', '-ldflags=-s -w', '-o', output, '.'], {
    cwd: source,
    env: debianGoEnv(dirname(output)),
    maxBuffer: 16 * 1024 * 1024,
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((next) => probe.once('listening', next));
  const address = probe.address();
  await new Promise((next) => probe.close(next));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

interface Run {
  /** `ok` or why not, by check. */
  readonly results: ReadonlyMap<string, string>;
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs all checks; the server is restarted when they ask for it. */
async function run(program: string, directory: string): Promise<Run> {
  const kubeconfig = join(directory, 'kubeconfig');
  // The port stays the same over a restart.
  const listen = `127.0.0.1:${await freePort()}`;
  const data = join(directory, 'data');
  const command = ['up', '--listen', listen, '--data-dir', data, '--write-kubeconfig', kubeconfig];
  const start = async (): Promise<KubegcProcess> => {
    // The checks write the status of Deployments and disruption budgets themselves.
    const controllers = ['--controllers', '*,-deployment-controller,-replicaset-controller,-disruption-controller'];
    const started = new KubegcProcess([...command, '--authorization-mode', 'RBAC', ...controllers]);
    await started.ready();
    return started;
  };
  let server = await start();
  const client = spawn(program, ['-kubeconfig', kubeconfig], { stdio: ['pipe', 'pipe', 'pipe'], timeout: RUN_MS });
  const results = new Map<string, string>();
  let stderr = '';
  client.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  try {
    const closed = new Promise<number | null>((settle) => client.once('close', settle));
    for await (const line of createInterface({ input: client.stdout })) {
      if (line === 'RESTART') {
        await server.stop();
        server = await start();
        client.stdin.write('\n');
        continue;
      }
      const [, verdict, check = '', why] = /^(ok|FAIL) ([^:]+)(?:: (.*))?$/.exec(line) ?? [];
      results.set(check, verdict === 'ok' ? 'ok' : (why ?? line));
    }
    return { results, code: await closed, stderr };
  } finally {
    client.kill('SIGKILL');
    await server.stop();
  }
}

describe('client-go', () => {
  let outcome: Run;

  beforeAll(async () => {
    await using directory = await temporaryDirectory();
    const program = join(directory.path, 'client');
    await build(program);
    outcome = await run(program, directory.path);
  }, BUILD_MS + RUN_MS);

  it.each(checks)('%s: %s', (check) => {
    expect(outcome.results.get(check) ?? `was not run:\n${outcome.stderr}`).toBe('ok');
  });

  it('has nothing to say that is not listed here, and ends well', () => {
    expect([...outcome.results.keys()].toSorted()).toEqual(checks.map(([check]) => check).toSorted());
    expect([outcome.code, outcome.code === 0 ? '' : outcome.stderr]).toEqual([0, '']);
  });

  it('is as new as the server', () => {
    const version = readFileSync(join(unpackedGo(), 'client-go.version'), 'utf8').trim();
    expect(Number(/^0\.(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(36);
  });
});
