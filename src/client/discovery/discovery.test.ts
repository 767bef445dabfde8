import { describe, expect, it } from 'vitest';
import { newServiceUnavailable } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { discover, RepeatedDiscovery } from './discovery.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { RestClient } from '../rest/rest-client.ts';
import { answerJson } from '../rest/scripted-server.fixture.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const accept = `${AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;

/** A server that answers by path; everything else is 404. */
function setUp(pages: Record<string, HttpResponse>) {
  const seen: string[] = [];
  const accepts: unknown[] = [];
  const transport = inProcessTransport((request) => {
    seen.push(request.target);
    accepts.push(request.headers['accept']);
    return Promise.resolve(
      pages[request.target] ?? { status: 404, headers: {}, body: Buffer.from('404 page not found') },
    );
  });
  return { client: new RestClient({ transport, clock: new FakeClock(), userAgent: 'test' }), seen, accepts };
}

const verbs = ['delete', 'get', 'list', 'watch'];
const aggregatedResource = (resource: string, kind: string, rest: object = {}) => ({
  resource,
  responseKind: { group: '', version: '', kind },
  scope: 'Namespaced',
  singularResource: kind.toLowerCase(),
  verbs,
  ...rest,
});
const aggregated = (...items: object[]): HttpResponse =>
  answerJson({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items }, 200, {
    'content-type': AGGREGATED,
  });
const groupOf = (name: string, ...versions: object[]) => ({ metadata: name === '' ? {} : { name }, versions });

const resourceList = (groupVersion: string, ...resources: object[]): HttpResponse =>
  answerJson({ kind: 'APIResourceList', groupVersion, resources });
const entry = (name: string, kind: string, rest: object = {}) => ({
  name,
  kind,
  singularName: kind.toLowerCase(),
  namespaced: true,
  verbs,
  ...rest,
});
const groups = (...list: [string, string[], string?][]): HttpResponse =>
  answerJson({
    kind: 'APIGroupList',
    groups: list.map(([name, versions, preferred = versions[0]]) => ({
      name,
      versions: versions.map((version) => ({ groupVersion: `${name}/${version}`, version })),
      preferredVersion: { groupVersion: `${name}/${preferred}`, version: preferred },
    })),
  });

const short = (resources: readonly { group: string; version: string; resource: string }[]) =>
  resources.map(({ group, version, resource }) => `${group}/${version}/${resource}`);

describe('discover with aggregated documents', () => {
  it('API-393 takes two requests', async () => {
    const { client, seen, accepts } = setUp({
      '/api': aggregated(
        groupOf('', {
          version: 'v1',
          freshness: 'Current',
          resources: [
            aggregatedResource('pods', 'Pod', {
              shortNames: ['po'],
              categories: ['all'],
              subresources: [{ subresource: 'status', verbs: ['get'] }],
            }),
            aggregatedResource('namespaces', 'Namespace', { scope: 'Cluster' }),
          ],
        }),
      ),
      '/apis': aggregated(
        groupOf('apps', { version: 'v1', resources: [aggregatedResource('deployments', 'Deployment')] }),
      ),
    });
    const found = await discover(client);
    expect([seen, accepts]).toEqual([
      ['/api', '/apis'],
      [accept, accept],
    ]);
    expect(found.groups).toEqual([
      { name: '', versions: ['v1'], preferredVersion: 'v1' },
      { name: 'apps', versions: ['v1'], preferredVersion: 'v1' },
    ]);
    expect(found.resources[0]).toEqual({
      group: '',
      version: 'v1',
      resource: 'pods',
      kind: 'Pod',
      namespaced: true,
      verbs,
      singular: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      subresources: ['status'],
    });
    expect(found.resources.map((r) => [r.kind, r.namespaced])).toEqual([
      ['Pod', true],
      ['Namespace', false],
      ['Deployment', true],
    ]);
    expect(found.failedGroupVersions.size).toBe(0);
  });

  it('COL-019 reports stale versions as failed and skips entries without a kind', async () => {
    const { client } = setUp({
      '/api': aggregated(
        groupOf('', {
          version: 'v1',
          resources: [aggregatedResource('pods', 'Pod'), { resource: 'odd', responseKind: null, verbs }],
        }),
      ),
      '/apis': aggregated(
        groupOf('metrics.k8s.io', { version: 'v1beta1', freshness: 'Stale', resources: [] }),
        groupOf('apps', { version: 'v1', resources: [aggregatedResource('deployments', 'Deployment')] }),
        groupOf('empty'),
      ),
    });
    const found = await discover(client);
    expect(short(found.resources)).toEqual(['/v1/pods', 'apps/v1/deployments']);
    expect([...found.failedGroupVersions].map(([gv, e]) => [gv, e.message])).toEqual([
      ['metrics.k8s.io/v1beta1', 'stale GroupVersion discovery: metrics.k8s.io/v1beta1'],
    ]);
  });
});

describe('discovery that is repeated', () => {
  const apps = (...resources: string[]): object =>
    groupOf('apps', { version: 'v1', resources: resources.map((name) => aggregatedResource(name, `Kind-of-${name}`)) });
  const core = groupOf('', { version: 'v1', resources: [aggregatedResource('pods', 'Pod')] });

  /** A server with a document and its ETag at each path, which it does not send again to a client that has it. */
  function serverOf(documents: Record<string, { etag?: string; answer: HttpResponse }>) {
    const requests: [string, unknown, number][] = [];
    const transport = inProcessTransport(({ target, headers }) => {
      const { etag, answer } = documents[target] ?? { answer: answerJson({}, 404) };
      const known = headers['if-none-match'];
      const response =
        etag !== undefined && known === etag
          ? { status: 304, headers: { etag }, body: new Uint8Array() }
          : { ...answer, headers: { ...answer.headers, ...(etag === undefined ? {} : { etag }) } };
      requests.push([target, known, response.status]);
      return Promise.resolve(response);
    });
    const discovery = new RepeatedDiscovery(new RestClient({ transport, clock: new FakeClock(), userAgent: 'test' }));
    return { discovery, requests, documents };
  }

  it('API-396 names the documents it has, and answers with the same object while neither changes', async () => {
    const { discovery, requests } = serverOf({
      '/api': { etag: '"A"', answer: aggregated(core) },
      '/apis': { etag: '"B"', answer: aggregated(apps('deployments')) },
    });
    const first = await discovery.read();
    expect(await discovery.read()).toBe(first);
    expect(requests).toEqual([
      ['/api', undefined, 200],
      ['/apis', undefined, 200],
      ['/api', '"A"', 304],
      ['/apis', '"B"', 304],
    ]);
  });

  it('API-396 keeps the unchanged document when the other one changes, and what it reads equals a first read', async () => {
    const { discovery, documents } = serverOf({
      '/api': { etag: '"A"', answer: aggregated(core) },
      '/apis': { etag: '"B"', answer: aggregated(apps('deployments')) },
    });
    const first = await discovery.read();
    documents['/apis'] = { etag: '"C"', answer: aggregated(apps('deployments', 'daemonsets')) };
    const second = await discovery.read();
    expect(second).not.toBe(first);
    expect(second).toEqual(await serverOf(documents).discovery.read());
    expect(short(second.resources)).toEqual(['/v1/pods', 'apps/v1/deployments', 'apps/v1/daemonsets']);
    expect(await discovery.read()).toBe(second);
  });

  it('API-396 a read that fails keeps what the last whole one knew', async () => {
    const { discovery, documents, requests } = serverOf({
      '/api': { etag: '"A"', answer: aggregated(core) },
      '/apis': { etag: '"B"', answer: aggregated(apps('deployments')) },
    });
    await discovery.read();
    const before = { ...documents };
    documents['/api'] = { etag: '"D"', answer: aggregated(groupOf('', { version: 'v1', resources: [] })) };
    documents['/apis'] = { answer: answerJson(newServiceUnavailable('no').status, 503) };
    await expect(discovery.read()).rejects.toMatchObject({ code: 503 });
    Object.assign(documents, before);
    requests.length = 0;
    expect(short((await discovery.read()).resources)).toEqual(['/v1/pods', 'apps/v1/deployments']);
    expect(requests.map(([, known]) => known)).toEqual(['"A"', '"B"']);
  });

  it('API-396 forgets a document that the server does not have any longer', async () => {
    const { discovery, documents } = serverOf({
      '/api': { etag: '"A"', answer: aggregated(core) },
      '/apis': { etag: '"B"', answer: aggregated(apps('deployments')) },
    });
    await discovery.read();
    delete documents['/apis'];
    expect(short((await discovery.read()).resources)).toEqual(['/v1/pods']);
  });

  it('API-396 names nothing to a server without ETags or without aggregated documents', async () => {
    const { discovery, requests } = serverOf({
      '/api': { answer: aggregated(core) },
      '/apis': { etag: '"B"', answer: groups(['apps', ['v1']]) },
      '/apis/apps/v1': { answer: resourceList('apps/v1', entry('deployments', 'Deployment')) },
    });
    const first = await discovery.read();
    expect(await discovery.read()).toEqual(first);
    expect(requests.map(([, known, status]) => [known, status])).toEqual(
      Array.from({ length: 6 }, () => [undefined, 200]),
    );
  });
});

describe('discover with legacy documents', () => {
  const pages = {
    '/api': answerJson({ kind: 'APIVersions', versions: ['v1'] }),
    '/api/v1': resourceList(
      'v1',
      entry('pods', 'Pod', { shortNames: ['po'] }),
      entry('pods/status', 'Pod'),
      entry('pods/log', 'Pod'),
    ),
    '/apis': groups(['apps', ['v1']], ['broken.io', ['v1', 'v1beta1']]),
    '/apis/apps/v1': resourceList('apps/v1', entry('deployments', 'Deployment')),
    '/apis/broken.io/v1': answerJson(newServiceUnavailable('no').status, 503),
    '/apis/broken.io/v1beta1': resourceList('broken.io/v1beta1', entry('things', 'Thing')),
  };

  it('API-562 reads a document for each group version, and one that fails costs only itself', async () => {
    const { client, seen } = setUp(pages);
    const found = await discover(client);
    expect(seen.toSorted()).toEqual(Object.keys(pages).toSorted());
    expect(short(found.resources)).toEqual(['/v1/pods', 'apps/v1/deployments', 'broken.io/v1beta1/things']);
    expect([...found.failedGroupVersions.keys()]).toEqual(['broken.io/v1']);
    expect(found.failedGroupVersions.get('broken.io/v1')).toMatchObject({ code: 503 });
  });

  it('COL-011 subresources are no resources', async () => {
    const found = await discover(setUp(pages).client);
    expect(found.resources[0]).toMatchObject({ resource: 'pods', subresources: ['status', 'log'] });
  });

  it('COL-013 skips a group version that does not parse', async () => {
    const list = groups(['apps', ['v1']]);
    const odd = { name: 'foo', versions: [{ groupVersion: 'foo//whatever', version: 'whatever' }] };
    const document = JSON.parse(Buffer.from(list.body as Uint8Array).toString()) as { groups: object[] };
    const { client } = setUp({ ...pages, '/apis': answerJson({ groups: [odd, ...document.groups] }) });
    const found = await discover(client);
    expect(short(found.resources)).toEqual(['/v1/pods', 'apps/v1/deployments']);
    expect([...found.failedGroupVersions.keys()]).toEqual(['foo//whatever']);
  });

  it('serves when one root speaks aggregated and the other does not', async () => {
    const { client } = setUp({
      ...pages,
      '/api': aggregated(groupOf('', { version: 'v1', resources: [aggregatedResource('nodes', 'Node')] })),
    });
    expect(short((await discover(client)).resources)).toEqual([
      '/v1/nodes',
      'apps/v1/deployments',
      'broken.io/v1beta1/things',
    ]);
  });
});

describe('preferred resources', () => {
  it('COL-010 each name once, in the preferred version, else in the first that serves it', async () => {
    const { client } = setUp({
      '/apis': groups(['g.io', ['v2', 'v1', 'v1beta1'], 'v1']),
      '/apis/g.io/v2': resourceList('g.io/v2', entry('both', 'Both'), entry('newest', 'Newest')),
      '/apis/g.io/v1': resourceList('g.io/v1', entry('both', 'Both')),
      '/apis/g.io/v1beta1': resourceList(
        'g.io/v1beta1',
        entry('both', 'Both'),
        entry('newest', 'Newest'),
        entry('old', 'Old'),
      ),
    });
    expect(short((await discover(client)).preferred).toSorted()).toEqual([
      'g.io/v1/both',
      'g.io/v1beta1/old',
      'g.io/v2/newest',
    ]);
  });
});

describe('a server that can not be asked', () => {
  it('COL-018 rejects when the list of groups can not be read', async () => {
    const { client } = setUp({
      '/api': answerJson({ versions: ['v1'] }),
      '/apis': answerJson(newServiceUnavailable('no').status, 503),
    });
    await expect(discover(client)).rejects.toMatchObject({ code: 503 });
  });

  it('yields nothing for a server without either root', async () => {
    const found = await discover(setUp({}).client);
    expect([found.groups, found.resources, found.preferred]).toEqual([[], [], []]);
  });

  it('can be aborted', async () => {
    const client = new RestClient({
      transport: inProcessTransport(() => new Promise(() => {})),
      clock: new FakeClock(),
      userAgent: 't',
    });
    const controller = new AbortController();
    const found = discover(client, { signal: controller.signal });
    controller.abort();
    await expect(found).rejects.toMatchObject({ code: 'aborted' });
  });
});
