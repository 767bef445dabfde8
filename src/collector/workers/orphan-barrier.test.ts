import { beforeEach, describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { LogFields } from '../../base/logs/logger.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import type { Target } from '../decide/target.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';
import { OrphanBarrier } from './orphan-barrier.ts';

const resource = (name: string, namespaced = true): OfferedResource => ({
  group: '',
  version: 'v1',
  resource: name,
  kind: name,
  namespaced,
  verbs: [],
});
const owner = (uid: string, namespace = 'ns'): Target => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace,
  name: uid,
  uid,
});
const item = (name: string, owners: readonly string[]): ObjectMeta => ({
  name,
  namespace: 'ns',
  uid: name,
  ownerReferences: owners.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })),
});

let clock: FakeClock;
let stop: AbortController;
let asked: string[];
let answers: Map<string, (query: URLSearchParams) => Promise<Partial<HttpResponse> & { json?: object }>>;
let options: ConstructorParameters<typeof OrphanBarrier>[0];
let barrier: OrphanBarrier;
let warnings: [string, LogFields | undefined][];
beforeEach(() => {
  warnings = [];
  clock = new FakeClock();
  stop = new AbortController();
  asked = [];
  answers = new Map();
  const handler = async ({ target, headers }: HttpRequest): Promise<HttpResponse> => {
    const url = new URL(target, 'http://server.invalid');
    asked.push(url.pathname);
    expect(headers['accept']).toContain('as=PartialObjectMetadataList');
    expect(url.searchParams.has('resourceVersion')).toBe(false);
    const answer = answers.get(url.pathname);
    const { status = 200, json = { items: [], metadata: {} } } = (await answer?.(url.searchParams)) ?? {};
    return { status, headers: {}, body: Buffer.from(JSON.stringify(json)) };
  };
  options = {
    client: new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' }),
    clock,
    resources: () => [resource('pods'), resource('secrets'), resource('nodes', false)],
    signal: () => stop.signal,
    failures: { warn: (message, fields) => void warnings.push([message, fields]) },
  };
  barrier = new OrphanBarrier(options);
});

const list = (items: readonly ObjectMeta[], metadata: object = {}) => ({
  json: { items: items.map((each) => ({ metadata: each })), metadata },
});

describe('OrphanBarrier', () => {
  it('BETTER-13 lists the owner’s namespace, and nothing that is cluster-scoped', async () => {
    expect(await barrier.ask(owner('a'))).toBe('clear');
    expect(asked).toEqual(['/api/v1/namespaces/ns/pods', '/api/v1/namespaces/ns/secrets']);
  });

  it('BETTER-13 lists everything for a cluster-scoped owner', async () => {
    await barrier.ask(owner('a', ''));
    expect(asked).toEqual(['/api/v1/pods', '/api/v1/secrets', '/api/v1/nodes']);
  });

  it('BETTER-13 finds who refers to the owner, on every page, once each, and not the owner itself', async () => {
    answers.set('/api/v1/namespaces/ns/secrets', async (query) =>
      query.get('continue') === null
        ? list([item('one', ['a', 'a']), item('other', ['b'])], { continue: 'more', remainingItemCount: 2 })
        : list([item('two', ['b', 'a']), item('a', ['a'])]),
    );
    const answer = await barrier.ask(owner('a'));
    const found = typeof answer === 'object' ? answer.found : [];
    expect(found).toEqual(
      ['one', 'two'].map((name) => ({
        apiVersion: 'v1',
        kind: 'secrets',
        resource: 'secrets',
        namespace: 'ns',
        name,
        uid: name,
      })),
    );
  });

  it('BETTER-13 owners that come while lists are under way share the next ones, which begin after those', async () => {
    const gates: (() => void)[] = [];
    answers.set('/api/v1/namespaces/ns/pods', async () => {
      await new Promise<void>((open) => gates.push(open));
      return list([item('late', ['b'])]);
    });
    const first = barrier.ask(owner('a'));
    await clock.settle();
    const others = Array.from({ length: 50 }, (_, i) => barrier.ask(owner(i === 0 ? 'b' : `c${i}`)));
    await clock.settle();
    expect(asked).toHaveLength(2);
    gates[0]!();
    expect(await first).toBe('clear');
    await clock.settle();
    gates[1]!();
    const answered = await Promise.all(others);
    expect([typeof answered[0], new Set(answered.slice(1)), asked.length]).toEqual(['object', new Set(['clear']), 4]);
  });

  it('BETTER-13 other namespaces do not wait', async () => {
    answers.set('/api/v1/namespaces/ns/pods', () => new Promise(() => undefined));
    void barrier.ask(owner('a'));
    await clock.settle();
    expect(await barrier.ask(owner('b', 'other'))).toBe('clear');
  });

  it('BETTER-13 gives up after two seconds', async () => {
    answers.set('/api/v1/namespaces/ns/pods', () => new Promise(() => undefined));
    const answers_: unknown[] = [];
    void barrier.ask(owner('a')).then((answer) => answers_.push(answer));
    await clock.advanceAsync(1999);
    expect(answers_).toEqual([]);
    await clock.advanceAsync(1);
    expect(answers_).toEqual(['gaveUp']);
    answers.clear();
    expect(await barrier.ask(owner('b'))).toBe('clear');
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    { what: 'a list that fails', answer: { status: 403, json: { kind: 'Status', code: 403, reason: 'Forbidden' } } },
    { what: 'too many objects', answer: list([item('x', [])], { continue: 'c', remainingItemCount: 10_000 }) },
  ])('BETTER-13 gives up on $what, but what was found is found', async ({ answer }) => {
    answers.set('/api/v1/namespaces/ns/pods', () => Promise.resolve(answer));
    answers.set('/api/v1/namespaces/ns/secrets', () => Promise.resolve(list([item('late', ['b'])])));
    expect(await barrier.ask(owner('a'))).toBe('gaveUp');
    expect(await barrier.ask(owner('b'))).toMatchObject({ found: [{ name: 'late' }] });
  });

  it('LIFE-563 a resource that does not answer is left out after the time limit, and named in one line', async () => {
    answers.set('/api/v1/namespaces/ns/pods', () => new Promise(() => undefined));
    answers.set('/api/v1/namespaces/ns/secrets', () => Promise.resolve(list([item('late', ['a'])])));
    const asked_ = ['a', 'b'].map((uid) => barrier.ask(owner(uid)));
    await clock.advanceAsync(2000);
    expect(await Promise.all(asked_)).toMatchObject([{ found: [{ name: 'late' }] }, 'gaveUp']);
    expect(warnings).toEqual([
      [
        'late dependents of orphaned owners were not looked for in some resources',
        { namespace: 'ns', unlisted: { '/v1/pods (pods)': 'no answer within 2000 ms' } },
      ],
    ]);
  });

  it('LIFE-562 an owner waits for as long as the options say', async () => {
    barrier = new OrphanBarrier({ ...options, timeoutMs: 10_000 });
    answers.set('/api/v1/namespaces/ns/pods', () => new Promise(() => undefined));
    let answer: unknown;
    void barrier.ask(owner('a')).then((given) => (answer = given));
    await clock.advanceAsync(9999);
    expect(answer).toBeUndefined();
    await clock.advanceAsync(1);
    expect(answer).toBe('gaveUp');
    expect(warnings).toMatchObject([
      [expect.any(String), { unlisted: { '/v1/pods (pods)': 'no answer within 10000 ms' } }],
    ]);
  });

  it('LIFE-563 one that fails is named with its error, one that is too large with the bound', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: 500,
      reason: 'InternalError',
      message: 'conversion webhook failed',
    };
    answers.set('/api/v1/pods', () => Promise.resolve({ status: 500, json: status }));
    answers.set('/api/v1/nodes', () => Promise.resolve(list([], { continue: 'c', remainingItemCount: 10_001 })));
    expect(await barrier.ask(owner('a', ''))).toBe('gaveUp');
    const unlisted = {
      '/v1/pods (pods)': 'conversion webhook failed',
      '/v1/nodes (nodes)': 'altogether more than 10000 objects',
    };
    const objects = { '/v1/nodes (nodes)': 10_001 };
    expect(warnings.map(([, fields]) => fields)).toEqual([{ unlisted, objects }]);
  });

  it('LIFE-563 where all together are too many, the log says of which there are how many', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => item(`x${i}`, []));
    answers.set('/api/v1/pods', () => Promise.resolve(list(many(6000))));
    answers.set('/api/v1/secrets', async () => {
      await new Promise((turn) => setImmediate(turn));
      return list(many(500), { continue: 'c', remainingItemCount: 4500 });
    });
    expect(await barrier.ask(owner('a', ''))).toBe('gaveUp');
    const unlisted = { '/v1/secrets (secrets)': 'altogether more than 10000 objects' };
    const objects = { '/v1/pods (pods)': 6000, '/v1/secrets (secrets)': 5000 };
    expect(warnings.map(([, fields]) => fields)).toEqual([{ unlisted, objects }]);
  });

  it('LIFE-563 nothing is said of lists that a stop has cut, and of those that were complete', async () => {
    await barrier.ask(owner('a'));
    answers.set('/api/v1/namespaces/ns/pods', () => new Promise(() => undefined));
    const cut = barrier.ask(owner('b'));
    await clock.settle();
    stop.abort();
    expect(await cut).toBe('gaveUp');
    expect(warnings).toEqual([]);
  });
});
