import { afterEach, beforeEach, expect, it } from 'vitest';
import { newStatusError, newTooManyRequests } from '../../src/api/status-error.ts';
import { formatTime } from '../../src/api/meta/time.ts';
import { LegacyTokenCleanerController } from '../../src/lifecycle/legacy-token-cleaner/legacy-token-cleaner-controller.ts';
import { configMaps, EmbeddedCluster, gvrOf, pods } from './embedded-cluster.ts';

const DAY = 86_400_000;
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const secrets = gvrOf('secrets');
const accounts = gvrOf('serviceaccounts');
const namespace = 'default';
const tracking = 'kube-apiserver-legacy-service-account-token-tracking';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  const listed = ['unused', 'mounted'].map((name) => ({ name }));
  await cluster.create({ gvr: accounts, namespace }, { metadata: { name: 'robot' }, secrets: listed });
  for (const name of ['unused', 'mounted', 'made-by-hand']) await token(name);
  const volumes = [{ name: 'v', secret: { secretName: 'mounted' } }];
  await cluster.create(
    { gvr: pods, namespace },
    { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } },
  );
});
afterEach(() => cluster.stop());

const token = (name: string) =>
  cluster.create(
    { gvr: secrets, namespace },
    {
      metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
    },
  );
const get = (name: string) => cluster.get({ gvr: secrets, namespace, name });
const track = () =>
  cluster.create(
    { gvr: configMaps, namespace: 'kube-system' },
    { metadata: { name: tracking }, data: { since: formatTime(cluster.clock.now()).slice(0, 10) } },
  );
const run = () =>
  cluster.runShared((context) => new LegacyTokenCleanerController({ ...context, cleanUpPeriodMs: 2 * DAY }));
const hours = async (count: number) => {
  for (let hour = 0; hour < count; hour++) await cluster.clock.advanceAsync(3_600_000);
};

it('LIFE-681 a token that nobody uses is refused, then deleted; others stay', async () => {
  await track();
  await run();
  await hours(47);
  expect((await get('unused'))?.metadata?.labels).toBeUndefined();
  await hours(50);
  expect((await get('unused'))?.metadata?.labels?.[INVALID_SINCE]).toMatch(/^\d{4}-\d\d-\d\d$/);
  await hours(97);
  expect(await get('unused')).toBeUndefined();
  for (const name of ['mounted', 'made-by-hand']) expect((await get(name))?.metadata?.labels).toBeUndefined();
  expect(cluster.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
});

it('LIFE-681 nothing is deleted while nobody notes the use of tokens', async () => {
  await run();
  await hours(24 * 12);
  expect((await get('unused'))?.metadata?.labels).toBeUndefined();
  expect(cluster.requests.filter((request) => !request.startsWith('GET'))).toEqual([]);
});

it('LIFE-681 a token that is used during the pass stays valid', async () => {
  await track();
  let raced = false;
  cluster.fault = async (request, next) => {
    if (request.method === 'PATCH' && !raced) {
      raced = true;
      const body = {
        metadata: { labels: { 'kubernetes.io/legacy-token-last-used': formatTime(cluster.clock.now()).slice(0, 10) } },
      };
      await cluster.client.patch(
        { gvr: secrets, namespace, name: 'unused' },
        { type: 'application/merge-patch+json', body },
      );
    }
    return next(request);
  };
  await run();
  await hours(97);
  expect(raced).toBe(true);
  expect(cluster.logger.lines.filter(({ message }) => message.startsWith('refuses an unused token'))).toEqual([]);
  expect(Object.keys((await get('unused'))?.metadata?.labels ?? {})).toEqual(['kubernetes.io/legacy-token-last-used']);
});

it('LIFE-681 a Secret that the server refuses to change keeps no other Secret, and is tried again', async () => {
  const account = { gvr: accounts, namespace, name: 'robot' };
  const body = { secrets: ['a-refused', 'unused', 'mounted'].map((name) => ({ name })) };
  await cluster.wait(cluster.client.patch(account, { type: 'application/merge-patch+json', body }));
  await token('a-refused');
  await track();
  let isRefused = true;
  cluster.fault = (request, next) =>
    isRefused && request.method !== 'GET' && request.target.endsWith('/secrets/a-refused')
      ? Promise.reject(newStatusError(403, 'denied by a webhook'))
      : next(request);
  await run();
  await hours(97);
  const refusals = () => cluster.logger.lines.filter(({ message }) => message.startsWith('refuses an unused token'));
  expect(refusals().map(({ fields }) => fields?.['name'])).toEqual(['unused']);
  expect((await get('unused'))?.metadata?.labels?.[INVALID_SINCE]).toBeDefined();
  expect((await get('a-refused'))?.metadata?.labels).toBeUndefined();
  expect(cluster.logger.lines.some(({ fields }) => fields?.['name'] === 'a-refused')).toBe(true);
  isRefused = false;
  await hours(1);
  expect((await get('a-refused'))?.metadata?.labels?.[INVALID_SINCE]).toBeDefined();
  expect(refusals().map(({ fields }) => fields?.['name'])).toEqual(['unused', 'a-refused']);
});

it('LIFE-017 LIFE-681 a pass ends when the server is overloaded, and begins again when it asks for that', async () => {
  await track();
  const times: number[] = [];
  cluster.fault = (request, next) => {
    if (request.method === 'GET' || !request.target.includes('/secrets/')) return next(request);
    times.push(cluster.clock.monotonic());
    return times.length < 3 ? Promise.reject(newTooManyRequests('slow down', 30)) : next(request);
  };
  const account = { gvr: accounts, namespace, name: 'robot' };
  const body = { secrets: ['a-first', 'unused', 'mounted'].map((name) => ({ name })) };
  await cluster.wait(cluster.client.patch(account, { type: 'application/merge-patch+json', body }));
  await token('a-first');
  await run();
  await hours(97);
  expect(times.slice(1, 3).map((time, n) => time - times[n]!)).toEqual([30_000, 30_000]);
  expect((await get('unused'))?.metadata?.labels?.[INVALID_SINCE]).toBeDefined();
});
