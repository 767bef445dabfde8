import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { type ApiServer, createApiServer } from '../../src/apiserver/api-server.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/** The content type that the real program requests from a server, which records it. */
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const clock = systemClock;
const store = openMemoryStore({ clock });
let server: ApiServer;
let listener: HttpServer;
let client: RestClient;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let kubeconfig: string;
/** The requested and the received content type of each watch. */
let watches: { readonly accept: string; readonly contentType: string }[] = [];
const userAgents = new Set<string>();

beforeAll(async () => {
  server = createApiServer({
    store,
    clock,
    random: systemRandom,
    logger: new MemoryLogger(),
    metrics: new MemoryMetrics(),
    version: { major: '1', minor: '36' },
  });
  await server.start();
  listener = await serve({
    handler: async (request) => {
      userAgents.add(String(request.headers['user-agent']));
      const response = await server.handler(request);
      if (request.target.includes('watch=true')) {
        watches.push({
          accept: String(request.headers['accept']),
          contentType: String(response.headers['content-type']),
        });
      }
      return response;
    },
    cleartext: true,
    host: '127.0.0.1',
    port: 0,
  });
  client = new RestClient({ transport: inProcessTransport(server.handler), clock, userAgent: 'test' });
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  const file = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: listener.url } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(file));
});

afterAll(async () => {
  await listener.close();
  await server.stop();
  await store.close();
  await directory[Symbol.asyncDispose]();
});

/** Returns the watches of a collector that has collected something. */
async function collected(name: string, ...flags: readonly string[]): Promise<typeof watches> {
  watches = [];
  const secrets = { gvr: { group: '', version: 'v1', resource: 'secrets' }, namespace: 'default' };
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '00000000-0000-4000-8000-000000000000' };
  await client.create(secrets, { metadata: { name, ownerReferences: [owner] } });
  const program = new KubegcProcess(['collect', '--kubeconfig', kubeconfig, '--mode', 'collect', ...flags]);
  try {
    await program.ready();
    await until('it is collected', async () => (await client.list<KubeObject>(secrets)).items.length === 0);
  } finally {
    await program.stop();
  }
  expect(watches.length).toBeGreaterThan(20);
  return watches;
}

it('COL-040 COL-200 asks for protobuf by default', async () => {
  for (const { accept, contentType } of await collected('usual')) {
    expect(accept).toMatch(new RegExp(`^${PROTOBUF};as=PartialObjectMetadata;`));
    expect(contentType).toContain(PROTOBUF);
  }
});

it('COL-173 names the program, its version and the component in each request', () => {
  const agents = [...userAgents];
  for (const agent of agents) expect(agent).toMatch(/^kubegc\/\d+\.\d+\.\d+ \(\w+\/\w+\)(?:\/[a-z-]+)?$/);
  expect(agents.some((agent) => agent.endsWith('/generic-garbage-collector'))).toBe(true);
  expect(agents.some((agent) => agent.endsWith('/leader-election'))).toBe(true);
});

it('COL-200 with --kube-api-content-type=application/json asks for JSON alone, and collects', async () => {
  for (const { accept, contentType } of await collected('json', '--kube-api-content-type=application/json')) {
    expect(accept).toMatch(/^application\/json;as=PartialObjectMetadata;/);
    expect(accept).not.toContain(PROTOBUF);
    expect(contentType).toMatch(/^application\/json/);
  }
});
