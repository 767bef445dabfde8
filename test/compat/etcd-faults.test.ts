import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EtcdClient } from '../../src/apiserver/storage/etcd/etcd-client.ts';
import { EtcdCompactor } from '../../src/apiserver/storage/etcd/etcd-compactor.ts';
import { type EtcdStoreConfig, openEtcdStore } from '../../src/apiserver/storage/etcd/open-etcd-store.ts';
import {
  type Revision,
  RevisionCompactedError,
  type Store,
  type StoreEvent,
} from '../../src/apiserver/storage/interface.ts';
import {
  StoreConnectError,
  StoreForeignDataError,
  StoreOutcomeUnknownError,
  StoreRewoundError,
  StoreTooLargeError,
  StoreFullError,
  StoreUnavailableError,
} from '../../src/apiserver/storage/store-errors.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';
import { etcdctlPath, EtcdProcess } from './etcd-process.ts';
import { etcdCertificates } from './etcd-tls.ts';
import { TcpProxy } from './tcp-proxy.ts';

const common = { clock: systemClock, random: systemRandom, logger: silentLogger };
const prefix = '/registry/core/configmaps/';
const bytes = (text: string): Uint8Array => Buffer.from(text);
const run = promisify(execFile);

const opened: Store[] = [];
async function open(config: Pick<EtcdStoreConfig, 'endpoints'> & Partial<EtcdStoreConfig>): Promise<Store> {
  const { store } = await openEtcdStore({ ...common, ...config });
  opened.push(store);
  return store;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/** Collects every event of a watch, from now on. */
async function watch(store: Store) {
  const told: StoreEvent[] = [];
  const seen: { progress: Revision; closed?: { error: Error | undefined } } = { progress: 0 };
  const startRevision = (await store.currentRevision()) + 1;
  await store.watch(prefix, {
    startRevision,
    onEvents: (events) => told.push(...events),
    onProgress: (revision) => (seen.progress = revision),
    onClose: (error) => (seen.closed = { error }),
  });
  return { told, seen };
}

async function put(store: Store, name: string, value = ''): Promise<Revision> {
  const result = await store.create(prefix + name, bytes(value));
  if (!result.succeeded) throw new Error(`${name} exists`);
  return result.kv.modRevision;
}

/**
 * Raises one counter of each key under guards until it is aborted, whatever happens in between. The acknowledged counts are a lower bound
 * of the stored ones; each write without an answer may add one.
 */
async function count(store: Store, key: string, signal: AbortSignal) {
  const known = { acknowledged: 0, unknown: 0, failed: 0 };
  while (!signal.aborted) {
    try {
      const { kv } = await store.get(key);
      const next = kv === undefined ? 1 : Number(Buffer.from(kv.value).toString()) + 1;
      const result =
        kv === undefined
          ? await store.create(key, bytes(String(next)))
          : await store.update(key, bytes(String(next)), kv.modRevision);
      if (result.succeeded) known.acknowledged++;
    } catch (error) {
      if (error instanceof StoreOutcomeUnknownError) known.unknown++;
      else if (error instanceof StoreUnavailableError) known.failed++;
      else throw error;
    }
  }
  return known;
}

async function expectNothingLost(store: Store, key: string, known: Awaited<ReturnType<typeof count>>): Promise<void> {
  const value = Number(Buffer.from((await store.get(key)).kv?.value ?? []).toString());
  expect(value).toBeGreaterThanOrEqual(known.acknowledged);
  expect(value).toBeLessThanOrEqual(known.acknowledged + known.unknown);
}

/** Expects that the watch has sent everything: each change of a key begins where the one before it ended. */
function expectUnbroken(told: readonly StoreEvent[]): void {
  const newest = new Map<string, Revision>();
  let last = 0;
  for (const { key, revision, previous } of told) {
    expect(revision).toBeGreaterThanOrEqual(last);
    expect(previous?.modRevision).toBe(newest.get(key));
    last = revision;
    newest.set(key, revision);
  }
}

describe('one etcd', () => {
  let etcd: EtcdProcess;
  beforeAll(async () => {
    etcd = await EtcdProcess.start();
  });
  afterAll(() => etcd[Symbol.asyncDispose]());
  const port = (): number => Number(new URL(etcd.url).port);

  it('API-564 keys with a time to live go together when it is over, unless they were written without one since', async () => {
    const store = await open({ endpoints: [etcd.url], prefix: '/ttl' });
    const { told } = await watch(store);
    const ttlMs = 1_000;
    await Promise.all(['a', 'b', 'kept'].map((name) => store.create(prefix + name, bytes('1'), { ttlMs })));
    const { kv } = await store.get(`${prefix}kept`);
    await store.update(`${prefix}kept`, bytes('2'), kv?.modRevision ?? 0);
    await until('the keys are gone', async () => told.filter(({ type }) => type === 'DELETE').length === 2);
    const gone = told.filter(({ type }) => type === 'DELETE');
    expect(gone.map(({ key }) => key.slice(prefix.length)).toSorted()).toEqual(['a', 'b']);
    // One lease for both.
    expect(new Set(gone.map(({ revision }) => revision)).size).toBe(1);
    expect((await store.list(prefix)).items.map(({ key }) => key)).toEqual([`${prefix}kept`]);
    expectUnbroken(told);
  });

  it('a value above etcd’s limit is refused in etcd’s words, and the next one is not', async () => {
    const store = await open({ endpoints: [etcd.url], prefix: '/large' });
    const large = store.create(`${prefix}large`, new Uint8Array(1_700_000));
    await expect(large).rejects.toThrow(StoreTooLargeError);
    await expect(large).rejects.toThrow('etcdserver: request is too large');
    const larger = store.create(`${prefix}large`, new Uint8Array(3 << 20));
    await expect(larger).rejects.toThrow(StoreTooLargeError);
    await expect(larger).rejects.toThrow('larger than max');
    await put(store, 'small');
    const fits = new Uint8Array(1_400_000).fill(7);
    await store.create(`${prefix}fits`, fits);
    expect(Buffer.compare((await store.get(`${prefix}fits`)).kv?.value ?? bytes(''), fits)).toBe(0);
  });

  it('objects of megabytes are listed and watched in pieces', async () => {
    const store = await open({ endpoints: [etcd.url], prefix: '/big-list' });
    const { told } = await watch(store);
    await Promise.all(
      Array.from({ length: 24 }, (_, i) => store.create(`${prefix}${i}`, new Uint8Array(1_000_000).fill(i))),
    );
    const { items } = await store.list(prefix);
    expect(items.map(({ key, value }) => [key, value.length])).toEqual(
      Array.from({ length: 24 }, (_, i) => `${prefix}${i}`)
        .toSorted()
        .map((key) => [key, 1_000_000]),
    );
    await until('all are told', async () => told.length === 24);
    // From the beginning: what is not in memory any more comes from etcd's history.
    const again: StoreEvent[] = [];
    await store.watch(prefix, {
      startRevision: told[0]?.revision ?? 0,
      onEvents: (events) => again.push(...events),
    });
    await until('all are told again', async () => again.length === 24);
    expect(again.map(({ revision }) => revision)).toEqual(told.map(({ revision }) => revision));
  });

  it('two prefixes are two clusters', async () => {
    const [one, two] = await Promise.all([
      open({ endpoints: [etcd.url], prefix: '/one' }),
      open({ endpoints: [etcd.url], prefix: 'two/deep/' }),
    ]);
    const { told, seen } = await watch(two);
    const revision = await put(one, 'a', 'of one');
    expect((await two.get(`${prefix}a`)).kv).toBeUndefined();
    await put(two, 'a', 'of two');
    expect((await one.list(prefix)).items.map(({ value }) => Buffer.from(value).toString())).toEqual(['of one']);
    await until('the other prefix has made progress', async () => seen.progress > revision);
    expect(told.map(({ current }) => Buffer.from(current?.value ?? []).toString())).toEqual(['of two']);
  });

  it('keys that kubegc has not written are not mixed with its own', async () => {
    const client = new EtcdClient({ ...common, endpoints: [etcd.url] });
    await client.createKey(Buffer.from('/foreign/pods/default/a'), bytes('k8s\0'));
    await client.createKey(Buffer.from('/later/kubegc/format'), bytes('{"format":"kubegc-etcd","version":2}'));
    client.close();
    const foreign = open({ endpoints: [etcd.url], prefix: '/foreign' });
    await expect(foreign).rejects.toThrow(StoreForeignDataError);
    await expect(foreign).rejects.toThrow('etcd holds 1 keys of another program under /foreign/');
    await expect(open({ endpoints: [etcd.url], prefix: '/later' })).rejects.toThrow('format kubegc-etcd, version 2');
    // Many at once on nothing: one of them says whose it is.
    await Promise.all(Array.from({ length: 5 }, () => open({ endpoints: [etcd.url], prefix: '/new' })));
  });

  it('one of several servers compacts, to where the round before began', async () => {
    const client = new EtcdClient({ ...common, endpoints: [etcd.url] });
    const store = await open({ endpoints: [etcd.url], prefix: '/compaction' });
    const servers = Array.from({ length: 3 }, () => new EtcdCompactor({ ...common, client }));
    const none = { version: 0n, revision: 0 };
    const round = async (before: readonly { version: bigint; revision: number }[]) =>
      Promise.all(servers.map((server, i) => server.round(before[i] ?? none)));
    await put(store, 'a');
    const first = await round([]);
    const revision = await put(store, 'b');
    const { version } = first[0] ?? none;
    expect(first.map((known) => known.version)).toEqual([version, version, version]);
    const second = await round(first);
    expect(second.map((known) => known.version)).toEqual([version + 1n, version + 1n, version + 1n]);
    expect((await store.list(prefix, { revision })).items).toHaveLength(2);
    const lowest = Math.min(...first.map((known) => known.revision));
    const early = await store.list(prefix, { revision: lowest - 1 }).catch((error: unknown) => error);
    expect(early).toBeInstanceOf(RevisionCompactedError);
    client.close();
  });

  it('a write while the wire is cut fails cleanly, and watches go on where they were', async () => {
    await using proxy = await TcpProxy.start(port());
    const store = await open({ endpoints: [`http://127.0.0.1:${proxy.port}`], prefix: '/cut', requestTimeoutMs: 600 });
    const direct = await open({ endpoints: [etcd.url], prefix: '/cut' });
    const { told, seen } = await watch(store);
    await put(store, 'before');
    await proxy.cut();
    await expect(store.get(`${prefix}before`)).rejects.toThrow(StoreUnavailableError);
    await expect(put(store, 'never')).rejects.toThrow(StoreUnavailableError);
    for (let i = 0; i < 20; i++) await put(direct, `meanwhile-${i}`);
    await proxy.mend();
    await until('the watch is told what it missed', async () => told.length === 21);
    expectUnbroken(told);
    expect(seen.closed).toBeUndefined();
    expect((await store.get(`${prefix}never`)).kv).toBeUndefined();
    await put(store, 'after');
  });

  it('a watch that was away while history was forgotten ends, and the next one is good', async () => {
    await using proxy = await TcpProxy.start(port());
    const store = await open({ endpoints: [`http://127.0.0.1:${proxy.port}`], prefix: '/forgotten' });
    const direct = await open({ endpoints: [etcd.url], prefix: '/forgotten' });
    const { seen } = await watch(store);
    await put(store, 'a');
    await proxy.cut();
    await put(direct, 'b');
    await direct.compact(await put(direct, 'c'));
    await proxy.mend();
    await until('the watch has ended', async () => seen.closed !== undefined);
    expect(seen.closed?.error).toBeInstanceOf(RevisionCompactedError);
    const next = await watch(store);
    await put(direct, 'd');
    await until('the next watch is told', async () => next.told.length === 1);
  });

  describe('a write of which nobody hears the answer', () => {
    /** Sends it into a wire without a way back, which is then mended. */
    async function unanswered<T>(
      proxy: TcpProxy,
      write: () => Promise<T>,
      applied: () => Promise<boolean>,
    ): Promise<T> {
      proxy.loseAnswers();
      const writing = write();
      writing.catch(() => undefined);
      await until('etcd has applied it', applied);
      await proxy.cut();
      await proxy.mend();
      return writing;
    }

    it('is found to have been its own, and is written once', async () => {
      await using proxy = await TcpProxy.start(port());
      const store = await open({ endpoints: [`http://127.0.0.1:${proxy.port}`], prefix: '/unanswered' });
      const direct = await open({ endpoints: [etcd.url], prefix: '/unanswered' });
      const key = `${prefix}a`;
      const read = async (): Promise<string> => Buffer.from((await direct.get(key)).kv?.value ?? []).toString();
      const created = await unanswered(
        proxy,
        () => store.create(key, bytes('1')),
        async () => (await read()) === '1',
      );
      const revision = await direct.currentRevision();
      expect(created).toMatchObject({ succeeded: true, kv: { createRevision: revision, modRevision: revision } });
      const updated = await unanswered(
        proxy,
        () => store.update(key, bytes('2'), revision),
        async () => (await read()) === '2',
      );
      expect(updated).toMatchObject({ succeeded: true, kv: { createRevision: revision, modRevision: revision + 1 } });
      expect(await direct.currentRevision()).toBe(revision + 1);
    });

    it('is reported as unknown when another client wrote since, or when it was a deletion', async () => {
      await using proxy = await TcpProxy.start(port());
      const store = await open({ endpoints: [`http://127.0.0.1:${proxy.port}`], prefix: '/unknown' });
      const direct = await open({ endpoints: [etcd.url], prefix: '/unknown' });
      const key = `${prefix}a`;
      const revision = await put(direct, 'a', '1');
      const overtaken = unanswered(
        proxy,
        () => store.update(key, bytes('2'), revision),
        async () => {
          const { kv } = await direct.get(key);
          if (kv?.modRevision !== revision + 1) return false;
          await direct.update(key, bytes('3'), kv.modRevision);
          return true;
        },
      );
      await expect(overtaken).rejects.toThrow(StoreOutcomeUnknownError);
      const deletion = unanswered(
        proxy,
        () => store.delete(key, revision + 2),
        async () => (await direct.get(key)).kv === undefined,
      );
      await expect(deletion).rejects.toThrow(StoreOutcomeUnknownError);
    });
  });
});

describe('an etcd that is full', () => {
  it('refuses writes with the reason, and reads and watches go on', async () => {
    await using etcd = await EtcdProcess.start({ args: ['--quota-backend-bytes=6000000'] });
    const store = await open({ endpoints: [etcd.url] });
    const { told, seen } = await watch(store);
    const written: string[] = [];
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) {
        await store.create(`${prefix}${i}`, new Uint8Array(1_000_000));
        written.push(`${prefix}${i}`);
      }
    };
    const filling = fill();
    await expect(filling).rejects.toThrow(StoreFullError);
    await expect(filling).rejects.toThrow('database space exceeded');
    // A refused write may have been stored all the same: etcd checks its size once more after it has applied a write.
    const stored = (await store.list(prefix)).items.map(({ key }) => key);
    expect([written, [...written, `${prefix}${written.length}`]]).toContainEqual(stored);
    await until('all is told', async () => told.length === stored.length);
    expect(seen.closed).toBeUndefined();
  });
});

describe('an etcd that dies', () => {
  it('is waited for: nothing acknowledged is lost, and watches miss nothing', async () => {
    await using etcd = await EtcdProcess.start();
    const store = await open({ endpoints: [etcd.url], requestTimeoutMs: 1_000 });
    const { told, seen } = await watch(store);
    const stop = new AbortController();
    const key = `${prefix}counter`;
    const counting = count(store, key, stop.signal);
    for (let i = 0; i < 2; i++) {
      const before = told.length;
      await until('the counter moves', async () => told.length > before + 20);
      await etcd.kill();
      await etcd.run();
    }
    const before = told.length;
    await until('the counter moves again', async () => told.length > before + 20);
    stop.abort();
    const known = await counting;
    await expectNothingLost(store, key, known);
    const { kv } = await store.get(key);
    await until('all is told', async () => told.at(-1)?.revision === kv?.modRevision);
    expectUnbroken(told);
    expect(told.map(({ current }) => Buffer.from(current?.value ?? []).toString())).toEqual(
      told.map((_, i) => String(i + 1)),
    );
    expect(seen.closed).toBeUndefined();
  });

  it('and comes back without its data ends all watches; the next ones are good', async () => {
    await using etcd = await EtcdProcess.start();
    const store = await open({ endpoints: [etcd.url] });
    const { seen } = await watch(store);
    let last = 0;
    for (let i = 0; i < 20; i++) last = await put(store, `a${i}`);
    // The facts about the old etcd are not true of the new one.
    await store.compact(last);
    await etcd.kill();
    await etcd.wipe();
    await etcd.run();
    await until('the watch has ended', async () => seen.closed !== undefined);
    expect(seen.closed?.error).toBeInstanceOf(StoreRewoundError);
    const next = await watch(store);
    await put(store, 'b');
    await until('the next watch is told', async () => next.told.length === 1);
  });
});

describe('a cluster of three', () => {
  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'loses each of its members in turn (%s) and goes on serving',
    async (signal) => {
      await using cluster = await EtcdProcess.startCluster(3);
      const { members } = cluster;
      try {
        const endpoints = members.map(({ url }) => url);
        const [one, two] = await Promise.all([
          open({ endpoints, attemptTimeoutMs: 1_000 }),
          open({ endpoints, attemptTimeoutMs: 1_000 }),
        ]);
        const watches = await Promise.all([watch(one), watch(two)]);
        const stop = new AbortController();
        const keys = [`${prefix}one`, `${prefix}two`];
        const counting = [count(one, keys[0] ?? '', stop.signal), count(two, keys[1] ?? '', stop.signal)];
        const moves = async (what: string): Promise<void> => {
          for (const [i, { told }] of watches.entries()) {
            const own = (): number => told.filter(({ key }) => key === keys[i]).length;
            const before = own();
            await until(`${what}: the counter of server ${i} moves`, async () => own() > before + 10);
          }
        };
        for (const [i, member] of members.entries()) {
          await moves(`before member ${i} is lost`);
          if (signal === 'SIGKILL') await member.kill();
          else member.signal(signal);
          await moves(`without member ${i}`);
          if (signal === 'SIGKILL') await member.run();
          else member.signal('SIGCONT');
        }
        stop.abort();
        const known = await Promise.all(counting);
        for (const [i, key] of keys.entries()) {
          const counted = known[i];
          if (counted !== undefined) await expectNothingLost(one, key, counted);
        }
        const newest = Math.max(...(await one.list(prefix)).items.map(({ modRevision }) => modRevision));
        for (const { told, seen } of watches) {
          await until('all is told', async () => told.at(-1)?.revision === newest);
          expectUnbroken(told);
          expect(seen.closed).toBeUndefined();
        }
      } finally {
        await Promise.all(opened.splice(0).map((store) => store.close()));
      }
    },
  );
});

describe('who may talk to etcd', () => {
  it('TLS with client certificates, and what is said when they are not right', async () => {
    await using directory = await temporaryDirectory();
    const { authority, other, client, stranger, files } = await etcdCertificates(directory.path);
    await using etcd = await EtcdProcess.start({ tls: { ca: files.ca, ...files.server } });
    const endpoints = [etcd.url];
    const requestTimeoutMs = 1_500;
    const store = await open({
      endpoints,
      tls: { caPem: authority.certPem, certPem: client.certPem, keyPem: client.keyPem },
    });
    await put(store, 'a');

    const wrong = [
      { tls: { certPem: client.certPem, keyPem: client.keyPem }, says: /certificate/ },
      { tls: { caPem: other.certPem, certPem: client.certPem, keyPem: client.keyPem }, says: /certificate|signature/ },
      { tls: { caPem: authority.certPem }, says: /certificate|alert|ECONNRESET|closed/i },
      {
        tls: { caPem: authority.certPem, certPem: stranger.certPem, keyPem: stranger.keyPem },
        says: /certificate|alert|ECONNRESET|closed/i,
      },
    ];
    for (const { tls: used, says } of wrong) {
      const refused = open({ endpoints, tls: used, requestTimeoutMs });
      await expect(refused).rejects.toThrow(StoreConnectError);
      await expect(refused).rejects.toThrow(`cannot use etcd: ${etcd.url}: `);
      await expect(refused).rejects.toThrow(says);
    }
  });

  it('nobody there: each endpoint is named with what it said', async () => {
    const endpoints = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
    const refused = open({ endpoints, requestTimeoutMs: 300 });
    await expect(refused).rejects.toThrow(
      'cannot use etcd: http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2',
    );
  });

  it('users with passwords, also when their tokens become void', async () => {
    await using etcd = await EtcdProcess.start();
    const etcdctl = (...args: string[]): Promise<unknown> =>
      run(etcdctlPath, ['--endpoints', etcd.url, ...args], {
        env: { PATH: process.env['PATH'] ?? '', ETCDCTL_API: '3' },
      });
    await etcdctl('user', 'add', 'root:secret');
    await etcdctl('user', 'grant-role', 'root', 'root');
    await etcdctl('auth', 'enable');
    const endpoints = [etcd.url];
    const store = await open({ endpoints, credentials: { username: 'root', password: 'secret' } });
    const { told } = await watch(store);
    await put(store, 'a');
    // Tokens live in the memory of a member.
    await etcd.kill();
    await etcd.run();
    await put(store, 'b');
    await until('the watch goes on', async () => told.length === 2);
    const wrong = open({ endpoints, credentials: { username: 'root', password: 'wrong' } });
    await expect(wrong).rejects.toThrow('authentication failed, invalid user ID or password');
    await expect(open({ endpoints })).rejects.toThrow('user name is empty');
  });
});
