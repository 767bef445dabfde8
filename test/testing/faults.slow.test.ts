import { describe, expect, it } from 'vitest';
import { type FaultRequest, type FaultRule, StatusError, startCluster } from '../../src/testing/testing.ts';
import { dependent, owner, tree } from './tree.ts';

const collector = 'garbage-collector-controller';

describe('faults', () => {
  it('answer in the place of the server, to those they match, as often as they say', async () => {
    await using cluster = await startCluster({ objects: tree() });
    cluster.faults.add({
      match: { who: 'test', verb: 'get', resource: 'configmaps' },
      times: 2,
      answer: { status: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterSeconds: 3 },
    });
    const refused = await cluster.client.get(owner).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StatusError);
    expect((refused as StatusError).status).toMatchObject({
      code: 429,
      message: 'slow down',
      details: { retryAfterSeconds: 3 },
    });
    await expect(cluster.client.get(dependent)).resolves.toBeDefined();
    await expect(cluster.clientAs('another').get(owner)).resolves.toBeDefined();
    await expect(cluster.client.get(owner)).rejects.toThrow('slow down');
    await expect(cluster.client.get(owner)).resolves.toBeDefined();
    expect(cluster.trace().entries.at(-1)).toMatchObject({
      kind: 'fault',
      who: 'test',
      what: 'GET /api/v1/namespaces/default/configmaps/owner: answered 429',
    });
  });

  it('a lost request is repeated; a lost answer changes nothing about what was done', async () => {
    for (const drop of ['request', 'response'] as const) {
      await using cluster = await startCluster({ objects: tree() });
      cluster.faults.add({ match: ({ who, method }) => who === collector && method === 'DELETE', times: 1, drop });
      await cluster.client.delete(owner);
      await cluster.settled();
      expect((await cluster.client.find(dependent)) === undefined).toBe(drop === 'response');
      await cluster.settled({ advanceMs: 60_000 });
      expect(await cluster.client.find(dependent)).toBeUndefined();
      expect(cluster.trace().entries).toContainEqual(expect.objectContaining({ kind: 'fault', who: collector }));
    }
  });

  it('see the body of a request', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const policies: unknown[] = [];
    cluster.faults.add({
      match: ({ verb, body }) => {
        if (verb === 'delete') policies.push((body as { propagationPolicy?: string } | undefined)?.propagationPolicy);
        return false;
      },
      drop: 'request',
    });
    await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
    await cluster.settled();
    expect(policies[0]).toBe('Foreground');
    expect(policies.length).toBeGreaterThan(1);
  });

  it('see the query of a request, and strike only those that have in it what the rule asks for', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const secrets = { apiVersion: 'v1', kind: 'Secret' };
    const labelSelector = 'app in (a, b)';
    cluster.faults.add({ match: ({ query }) => query.get('labelSelector') === labelSelector, drop: 'request' });
    await expect(cluster.client.list({ ...secrets, labelSelector })).rejects.toThrow('broke the connection');
    await expect(cluster.client.list({ ...secrets, labelSelector: 'app=a' })).resolves.toEqual([]);
    await expect(cluster.client.list(secrets)).resolves.toHaveLength(1);
  });

  it("COL-150 COL-171 see the options of the collector's deletes in the query, those of others in the body", async () => {
    await using cluster = await startCluster({ objects: tree() });
    const { uid } = (await cluster.client.get(dependent)).metadata!;
    const isBackground = ({ query }: FaultRequest): boolean => query.get('propagationPolicy') === 'Background';
    cluster.faults.add({ match: isBackground, times: 1, drop: 'request' });
    cluster.faults.add({ match: ({ query }) => query.get('uid') === uid, answer: { status: 503 } });
    await cluster.client.delete(owner, { propagationPolicy: 'Background' });
    await cluster.settled({ advanceMs: 60_000 });
    expect(await cluster.client.find(dependent)).toBeDefined();
    const struck = cluster.trace().entries.filter(({ kind }) => kind === 'fault');
    expect(new Set(struck.map(({ who }) => who))).toEqual(new Set([collector]));
    expect(struck[0]?.what).toBe('DELETE /api/v1/namespaces/default/secrets/dependent: request lost');
    expect(struck[1]?.what).toBe('DELETE /api/v1/namespaces/default/secrets/dependent: answered 503');
  });

  it.each(['a/b', 'my operator', 'operator/v1.2 (linux)'])('know a client by its whole name: %s', async (who) => {
    await using cluster = await startCluster({ controllers: [] });
    const asking = new Set<string>();
    const look = ({ who: asks }: FaultRequest): boolean => {
      asking.add(asks);
      return false;
    };
    cluster.faults.add({ match: look, drop: 'request' });
    await cluster.informer({ apiVersion: 'v1', kind: 'Secret' }, who);
    expect(asking).toEqual(new Set([who]));
    cluster.faults.add({ match: { who }, answer: { status: 500 } });
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'refused' } };
    await expect(cluster.clientAs(who).create(map)).rejects.toThrow('answered by a fault rule with 500');
    expect(cluster.trace().entries.at(-1)).toMatchObject({ kind: 'fault', who });
  });

  it('know a creation by the name in its body', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const map = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    cluster.faults.add({ match: { verb: 'create', name: 'refused' }, answer: { status: 503 } });
    await expect(cluster.client.create(map({ name: 'refused' }))).rejects.toThrow('answered by a fault rule with 503');
    await expect(cluster.client.create(map({ name: 'other' }))).resolves.toBeDefined();
    await expect(cluster.client.create(map({ generateName: 'refused' }))).resolves.toBeDefined();
  });

  it('delay a request by the time of the cluster, and not longer than it lives', async () => {
    const cluster = await startCluster({ objects: tree() });
    const after = (delay: number): FaultRule => ({ match: { verb: 'get' }, times: 1, delay });
    cluster.faults.add(after(500));
    const delayed = cluster.client.get(owner);
    await cluster.clock.advance(499);
    expect(cluster.faults.held).toBe(1);
    await cluster.clock.advance(1);
    await expect(delayed).resolves.toMatchObject({ metadata: { name: 'owner' } });

    cluster.faults.add(after(60_000));
    cluster.faults.add(after(60_000));
    const held = expect(cluster.client.get(owner)).rejects.toMatchObject({
      name: 'TransportError',
      message: 'the cluster was stopped while a fault rule held the request back',
    });
    await cluster.settled();
    expect(cluster.faults.held).toBe(1);
    await cluster.stop();
    await held;
    await expect(cluster.client.get(owner)).rejects.toThrow('the cluster was stopped');
    expect(cluster.faults.held).toBe(0);
  });

  it('stop delaying a request whose sender gives up', async () => {
    await using cluster = await startCluster({ objects: tree() });
    cluster.faults.add({ match: { verb: 'get' }, delay: 60_000 });
    const path = '/api/v1/namespaces/default/configmaps/owner';
    const giving = new AbortController();
    const request = { method: 'GET', path, signal: giving.signal } as const;
    const given = expect(cluster.client.rest.request(request)).rejects.toThrow('the request was aborted');
    await cluster.settled();
    expect(cluster.faults.held).toBe(1);
    giving.abort();
    await given;
    await expect(cluster.client.rest.request(request)).rejects.toThrow('the request was aborted');
    await cluster.settled();
    expect(cluster.faults.held).toBe(0);
  });

  it('can be taken back, one or all', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const takeBack = cluster.faults.add({ match: { verb: 'get' }, drop: 'request' });
    cluster.faults.add({ match: { verb: 'list' }, drop: 'request' });
    await expect(cluster.client.get(owner)).rejects.toThrow('a fault rule broke the connection');
    takeBack();
    await cluster.client.get(owner);
    await expect(cluster.client.list({ apiVersion: 'v1', kind: 'Secret' })).rejects.toThrow('broke the connection');
    cluster.faults.clear();
    await cluster.client.list({ apiVersion: 'v1', kind: 'Secret' });
  });

  it('refuse a rule that does nothing', async () => {
    await using cluster = await startCluster({ controllers: [] });
    expect(() => cluster.faults.add({ match: {} })).toThrow('does nothing');
  });

  it.each([
    [{ match: { verbs: 'get' } }, 'match of a fault rule has no "verbs"; there are: who, method, verb, path, '],
    [{ match: { body: {} } }, 'match of a fault rule has no "body"'],
    [{ match: {}, time: 1 }, 'a fault rule has no "time"; there are: match, times, '],
    [{ match: {}, probability: 20 }, 'a probability is 0 to 1, not 20'],
    [{ match: {}, probability: null }, 'a probability is 0 to 1, not null'],
    [{}, 'a fault rule needs match: an object or a function'],
    [{ match: null }, 'a fault rule needs match: an object or a function'],
    [{ match: {}, drop: 'answer' }, 'drop is request or response, not answer'],
    [{ match: {}, times: 0 }, 'times is a positive integer, not 0'],
    [{ match: {}, times: 1.5 }, 'times is a positive integer, not 1.5'],
    [{ match: {}, times: '2' }, 'times is a positive integer, not 2'],
    [{ match: {}, delay: -1 }, 'a delay is a finite number from 0, not -1'],
    [{ match: {}, delay: Number.NaN }, 'a delay is a finite number from 0, not NaN'],
    [{ match: {}, delay: Number.POSITIVE_INFINITY }, 'a delay is a finite number from 0, not Infinity'],
    [{ match: {}, delay: '500' }, 'a delay is a finite number from 0, not 500'],
    [{ match: {}, answer: 503 }, 'answer of a fault rule is an object with a status, not 503'],
    [
      { match: {}, answer: { code: 503 } },
      'answer of a fault rule has no "code"; there are: status, reason, message, ',
    ],
    [{ match: {}, answer: {} }, 'the status of an answer is 200 to 599, not undefined'],
    [{ match: {}, answer: { status: 100 } }, 'the status of an answer is 200 to 599, not 100'],
    [{ match: {}, answer: { status: 600 } }, 'the status of an answer is 200 to 599, not 600'],
    [{ match: {}, answer: { status: 404.5 } }, 'the status of an answer is 200 to 599, not 404.5'],
    [{ match: {}, answer: { status: 429, retryAfterSeconds: 0.5 } }, 'retryAfterSeconds is an integer from 0, not 0.5'],
    [60_000, 'a fault rule takes an object, not 60000'],
    [{ match: [] }, 'a fault rule needs match: an object or a function, not []'],
    [{ match: /secrets/ }, 'a fault rule needs match: an object or a function, not /secrets/'],
    [{ match: async () => false }, 'match of a fault rule answers at once, with true or false: it cannot be async'],
    [
      { match: { verb: 'DELETE' } },
      "match.verb of a fault rule is one of get, list, watch, create, update, patch, delete, deletecollection, not 'DELETE'",
    ],
    [{ match: { verb: 'remove' } }, "deletecollection, not 'remove'"],
    [
      { match: { method: 'delete' } },
      "match.method of a fault rule is one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, not 'delete'",
    ],
    [
      { match: { resource: 'Secret' } },
      "match.resource of a fault rule is a plural in lower case, such as secrets, not 'Secret'",
    ],
    [{ match: { resource: 'secret' } }, "is the plural secrets, not 'secret'"],
    [{ match: { resource: 'cm' } }, "is the plural configmaps, not 'cm'"],
    [{ match: { resource: 'pods/status' } }, "such as secrets, not 'pods/status'"],
    [
      { match: { verb: ['get', 'list'] } },
      "match.verb of a fault rule is a string, or match is a function of the request, not [ 'get', 'list' ]",
    ],
    [{ match: { name: /dependent/ } }, 'match.name of a fault rule is a string, or match is a function of the request'],
    [{ match: { who: null } }, 'match.who of a fault rule is a string'],
  ])('refuse %j', async (rule, message) => {
    await using cluster = await startCluster({ controllers: [] });
    const given = typeof rule === 'object' ? { drop: 'request', ...rule } : rule;
    expect(() => cluster.faults.add(given as FaultRule)).toThrow(message);
  });
});
