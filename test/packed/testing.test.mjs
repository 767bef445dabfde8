// Every member of `kubegc/testing` that docs/testing.md promises, as a user gets them: scripts/packed-package.sh runs this where
// nothing but the packed package is installed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  assertCollected,
  assertHasFinalizer,
  assertNotCollected,
  assertOwnedBy,
  kubegcMatchers,
  startCluster,
} from 'kubegc/testing';

const HOLD = 'example.com/hold';
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', namespace: 'default' };
const dependent = { apiVersion: 'v1', kind: 'Secret', name: 'dependent', namespace: 'default' };
const family = `
apiVersion: v1
kind: ConfigMap
metadata: { name: owner, namespace: default }
---
apiVersion: v1
kind: Secret
metadata:
  name: dependent
  namespace: default
  ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: owner, blockOwnerDeletion: true }]
`;
const crds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec:
  group: example.com
  names: { kind: Shop, plural: shops, singular: shop }
  scope: Namespaced
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
`;

/** Objects that make the server load the controllers of Deployments and Services, and the rules of a definition. */
const needsModules = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: farms.example.com }
spec:
  group: example.com
  names: { kind: Farm, plural: farms, singular: farm }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-validations: [{ rule: has(self.metadata.name) }] } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: web }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
`;

/** Stops what it started, as `await using` does where the syntax is known. */
async function using(options, work) {
  const cluster = await startCluster(options);
  try {
    return await work(cluster);
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
}

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

test('is ready in milliseconds', async () => {
  const times = [];
  const work = [];
  for (let round = 0; round < 30; round++) {
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    await using({ objects: family }, async () => {
      times.push(performance.now() - from);
      const { user, system } = process.cpuUsage(cpu);
      work.push((user + system) / 1000);
    });
  }
  // Printed, not judged: how fast a machine is says nothing about the program.
  const then = `${middle(times.slice(1)).toFixed(1)} ms, of processor time ${middle(work.slice(1)).toFixed(1)} ms`;
  console.log(`ready: the first after ${times[0].toFixed(0)} ms, then ${then} (medians of 29)`);
});

test('options: seed, clock, crds, objects, controllers', async () => {
  const shop = { apiVersion: 'example.com/v1', kind: 'Shop', name: 'shop', namespace: 'default' };
  const objects = [{ apiVersion: shop.apiVersion, kind: shop.kind, metadata: { name: 'shop', namespace: 'default' } }];
  await using({ seed: 7, clock: 'fake', crds, objects }, async (cluster) => {
    assert.equal((await cluster.client.get(shop)).kind, 'Shop');
    assert.equal(cluster.clock.kind, 'fake');
  });
  await using({ clock: 'real' }, async (cluster) => assert.equal(cluster.clock.kind, 'real'));
  await using({ controllers: [], objects: family }, async (cluster) => {
    await cluster.client.delete(owner);
    await assertNotCollected(cluster, dependent);
  });
});

test('settled(): the collector, the controllers and the watches have nothing left to do', async () => {
  await using({ objects: family }, async (cluster) => {
    await cluster.client.delete(owner);
    assert.deepEqual(await cluster.settled(), { waiting: [] });
    assert.equal(await cluster.client.find(dependent), undefined);
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'team' });
    await cluster.settled();
    assert.equal(await cluster.client.find({ apiVersion: 'v1', kind: 'Namespace', name: 'team' }), undefined);
  });
});

test('clock.advance() and faults: what failed is tried again when its time has come, and not before', async () => {
  await using({ objects: family }, async (cluster) => {
    cluster.faults.add({
      match: { who: 'garbage-collector-controller', verb: 'delete' },
      times: 1,
      answer: { status: 500, reason: 'InternalError' },
    });
    await cluster.client.delete(owner);
    const { waiting } = await cluster.settled();
    assert.notDeepEqual(waiting, []);
    assert.notEqual(await cluster.client.find(dependent), undefined);
    const before = cluster.clock.now();
    await cluster.clock.advance(60_000);
    assert.equal(cluster.clock.now() - before, 60_000);
    assert.equal(await cluster.client.find(dependent), undefined);
  });
});

test('pause() and step(): one write at a time', async () => {
  await using({ objects: family }, async (cluster) => {
    cluster.pause();
    await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
    const written = [];
    for (let trace = await cluster.step(); String(trace) !== ''; trace = await cluster.step())
      written.push(String(trace));
    assert.equal(written.length, 2);
    assert.match(written[0], /Secret default\/dependent/);
    assert.match(written[1], /ConfigMap default\/owner/);
  });
});

test('trace(): what happened, and why', async () => {
  await using({ objects: family }, async (cluster) => {
    await cluster.client.delete(owner);
    await cluster.settled();
    assert.match(
      String(cluster.trace()),
      /garbage-collector-controller +Secret default\/dependent removed \| None of its owners exists\./,
    );
    assert.match(String(cluster.trace().about(dependent)), /dependent/);
    assert.doesNotMatch(String(cluster.trace().about(dependent)), /ConfigMap default\/owner removed/);
  });
});

/** With chance in it: faults, retries, uids. */
function story(seed) {
  return using({ seed, objects: family }, async (cluster) => {
    cluster.faults.add({ match: { verb: 'delete' }, probability: 0.5, answer: { status: 503 } });
    await cluster.client.delete(owner).catch(() => undefined);
    await cluster.settled({ advanceMs: 120_000 });
    const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last', namespace: 'default' } };
    const { metadata } = await cluster.client.create(last);
    return `${cluster.trace()}\n${metadata.uid} ${metadata.resourceVersion} ${cluster.clock.now()}`;
  });
}

if (process.env.TELL_STORY === undefined) {
  test('the same seed tells the same story, in this process and in another', async () => {
    const first = await story(11);
    for (let again = 0; again < 3; again++) assert.equal(await story(11), first);
    assert.notEqual(await story(12), first);
    const elsewhere = new Promise((settle, reject) => {
      const env = { ...process.env, TELL_STORY: '11', NODE_TEST_CONTEXT: '' };
      execFile(process.execPath, [fileURLToPath(import.meta.url)], { env }, (error, stdout) =>
        error ? reject(error) : settle(stdout),
      );
    });
    assert.equal((await elsewhere).includes(first), true, 'told by another process');
  });
} else {
  process.stdout.write(`${await story(Number(process.env.TELL_STORY))}\n`);
  process.exit(0);
}

test('assertions, and matchers for whoever has expect.extend', async () => {
  const held = family.replace('name: dependent', `name: dependent\n  finalizers: [${HOLD}]`);
  await using({ objects: held }, async (cluster) => {
    await assertOwnedBy(cluster, dependent, owner);
    await assertHasFinalizer(cluster, dependent, HOLD);
    await cluster.client.delete(owner);
    await assertNotCollected(cluster, dependent);
    await assert.rejects(
      assertCollected(cluster, dependent),
      /expected Secret default\/dependent to be collected[\s\S]*what happened to it/,
    );
    await cluster.client.removeFinalizer(dependent, HOLD);
    await assertCollected(cluster, dependent);
    assert.deepEqual(Object.keys(kubegcMatchers), ['toBeCollected', 'toBeOwnedBy', 'toHaveFinalizer']);
    assert.equal((await kubegcMatchers.toBeCollected(dependent, cluster)).pass, true);
  });
});

test('kubeconfig: for programs that connect', async () => {
  await using({ listen: true, objects: family }, async (cluster) => {
    const path = join(tmpdir(), `kubegc-packed-${process.pid}`);
    await cluster.writeKubeconfig(path);
    assert.equal(await readFile(path, 'utf8'), cluster.kubeconfig);
    const field = (name) => new RegExp(`${name}: *"?([^"\\s]+)`).exec(cluster.kubeconfig)[1];
    const ca = Buffer.from(field('certificate-authority-data'), 'base64');
    const status = await new Promise((settle, reject) => {
      request(
        new URL('/api/v1/namespaces/default/secrets/dependent', field('server')),
        { ca, headers: { authorization: `Bearer ${field('token')}` } },
        (response) => settle(response.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    assert.equal(status, 200);
  });
});

test('in a context of its own, as Jest and vmThreads of vitest make one for each file', async () => {
  const script = fileURLToPath(new URL('in-a-context.mjs', import.meta.url));
  const args = ['--experimental-vm-modules', '--no-warnings', script, [family, crds, needsModules].join('---')];
  const printed = await new Promise((settle) => {
    execFile(process.execPath, args, (error, stdout) => settle(error?.message ?? stdout));
  });
  assert.equal(printed, 'collected\n');
});

test('two hundred at once in one process, each on its own', async () => {
  const from = performance.now();
  const clusters = await Promise.all(Array.from({ length: 200 }, (_, seed) => startCluster({ seed, objects: family })));
  const ready = performance.now() - from;
  await Promise.all(clusters.filter((_, index) => index % 2 === 0).map(({ client }) => client.delete(owner)));
  await Promise.all(clusters.map((cluster) => cluster.settled({ timeoutMs: 120_000 })));
  const left = await Promise.all(clusters.map(({ client }) => client.find(dependent)));
  for (const [index, object] of left.entries()) assert.equal(object === undefined, index % 2 === 0);
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  const rss = process.memoryUsage().rss / 2 ** 20;
  console.log(`two hundred clusters: ready after ${ready.toFixed(0)} ms, ${rss.toFixed(0)} MiB resident`);
});
