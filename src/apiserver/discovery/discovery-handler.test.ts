import { beforeEach, describe, expect, it } from 'vitest';
import type { HttpHeaders, HttpResponse } from '../../base/http-message.ts';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import { decodeProtobuf } from '../../api/codec/protobuf/protobuf.ts';
import { parseYaml } from '../../api/codec/yaml/yaml.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { negotiateDiscovery } from './discovery-accept.ts';
import { DiscoveryHandler } from './discovery-handler.ts';
import { storageVersionHash } from './storage-version-hash.ts';
import { compareVersions } from './version-priority.ts';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2BETA1 = V2.replace('v=v2', 'v=v2beta1');

const widgets: ResourceInfo = {
  ...builtinResources()[0]!,
  group: 'example.com',
  version: 'v1beta1',
  resource: 'widgets',
  kind: 'Widget',
  singular: 'widget',
  namespaced: true,
  verbs: ['watch', 'create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update'],
  shortNames: ['wd'],
  categories: ['all'],
  subresources: [
    {
      name: 'status',
      verbs: ['update', 'get', 'patch'],
      kind: { group: 'example.com', version: 'v1beta1', kind: 'Widget' },
    },
    {
      name: 'scale',
      verbs: ['get', 'patch', 'update'],
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    },
  ],
};

let served: readonly ResourceInfo[];
let handler: DiscoveryHandler;

beforeEach(() => {
  served = builtinResources();
  handler = new DiscoveryHandler({ resources: () => served, serverAddress: () => '10.0.0.1:6443' });
});

function get(path: string, headers: HttpHeaders = {}, method = 'GET'): HttpResponse {
  const response = handler.handle(path, { method, target: path, headers });
  if (response === undefined || response instanceof Promise) throw new Error(`no document at once at ${path}`);
  return response;
}

interface Named {
  name: string;
}

function json<T>(response: HttpResponse): T {
  return JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as T;
}

describe('legacy discovery', () => {
  it('API-390 /api names the core versions and the address of the server, without an apiVersion', () => {
    expect(json(get('/api'))).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    });
  });

  it('API-390 API-398 /apis lists the groups but not core, in order of priority', () => {
    const list = json<{ groups: (Named & { versions: unknown; preferredVersion: unknown })[] }>(get('/apis'));
    expect(list).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    expect(list.groups.map(({ name }) => name)).toEqual([
      ...new Set(
        builtinResources()
          .map(({ group }) => group)
          .filter((group) => group !== ''),
      ),
    ]);
    expect(list.groups.find(({ name }) => name === 'autoscaling')).toEqual({
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    });
  });

  it('API-390 /apis/<g> is the entry of the list as a document', () => {
    expect(json(get('/apis/apps'))).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    });
    expect(json(get('/apis/apps/'))).toEqual(json(get('/apis/apps')));
  });

  it('API-391 /apis/<g>/<v> lists resources and subresources', () => {
    const list = json<{ resources: Named[] }>(get('/apis/apps/v1'));
    expect(list).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    expect(list.resources.map(({ name }) => name)).toEqual([
      'controllerrevisions',
      'daemonsets',
      'daemonsets/status',
      'deployments',
      'deployments/scale',
      'deployments/status',
      'replicasets',
      'replicasets/scale',
      'replicasets/status',
      'statefulsets',
      'statefulsets/scale',
      'statefulsets/status',
    ]);
    expect(list.resources[3]).toEqual({
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      storageVersionHash: '8aSe+NMegvE=',
    });
    expect(list.resources.slice(4, 6)).toEqual([
      {
        name: 'deployments/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
      {
        name: 'deployments/status',
        singularName: '',
        namespaced: true,
        kind: 'Deployment',
        verbs: ['get', 'patch', 'update'],
      },
    ]);
  });

  it("API-391 core's list has no apiVersion, and what is not stored no storage version", () => {
    const list = json<{ apiVersion?: string; groupVersion: string; resources: Named[] }>(get('/api/v1'));
    expect(list.apiVersion).toBeUndefined();
    expect(list.groupVersion).toBe('v1');
    const find = (name: string) => list.resources.find((entry) => entry.name === name);
    expect(find('bindings')).not.toHaveProperty('storageVersionHash');
    expect(find('pods/eviction')).toMatchObject({ group: 'policy', version: 'v1', kind: 'Eviction' });
    expect(find('pods/binding')).not.toHaveProperty('group');
    expect(find('endpoints')).toMatchObject({ singularName: 'endpoints', shortNames: ['ep'] });
  });

  it('API-391 entries are sorted by name in every document', () => {
    const paths = new Set(served.map(({ group, version }) => (group === '' ? '/api/v1' : `/apis/${group}/${version}`)));
    expect(paths.size).toBe(22);
    for (const path of paths) {
      const names = json<{ resources: Named[] }>(get(path)).resources.map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
    }
  });

  it.each(['/apis/nothing', '/apis/apps/v9', '/api/v7', '/apis/apps/v1/deployments', '/api/v1/pods', '/other', '/'])(
    'API-004 there is no document at %s',
    (path) => {
      expect(handler.handle(path, { method: 'GET', target: path, headers: {} })).toBeUndefined();
    },
  );

  it('API-005 other methods are 405', () => {
    for (const path of ['/api', '/apis', '/apis/apps', '/apis/apps/v1']) {
      const response = get(path, {}, 'POST');
      expect(response.status).toBe(405);
      expect(json(response)).toMatchObject({ kind: 'Status', reason: 'MethodNotAllowed' });
    }
  });

  it('API-022 a media type we do not speak is 406', () => {
    for (const path of ['/apis', '/apis/apps/v1']) {
      const response = get(path, { accept: 'text/html' });
      expect(response.status).toBe(406);
      expect(json(response)).toMatchObject({
        message:
          '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      });
    }
  });

  it.each(['/api', '/apis', '/apis/apps', '/api/v1', '/apis/apps/v1'])(
    'API-020 %s is served in YAML and protobuf, too',
    async (path) => {
      const document = json<KubeObject>(get(path));
      const read = async (accept: string): Promise<{ type: unknown; bytes: Uint8Array }> => {
        const response = await handler.handle(path, { method: 'GET', target: path, headers: { accept } });
        return { type: response?.headers['content-type'], bytes: response?.body as Uint8Array };
      };
      const yaml = await read('application/yaml');
      expect(yaml.type).toBe('application/yaml');
      expect(parseYaml(Buffer.from(yaml.bytes).toString())).toEqual(document);
      const protobuf = await read('application/vnd.kubernetes.protobuf,application/json');
      expect(protobuf.type).toBe('application/vnd.kubernetes.protobuf');
      expect(decodeProtobuf(protobuf.bytes)).toMatchObject({ ...document, apiVersion: 'v1' });
    },
  );

  it('API-033 answers vary by Accept', () => {
    expect(get('/apis/apps/v1').headers).toMatchObject({ vary: 'Accept', 'content-type': 'application/json' });
  });
});

describe('storageVersionHash', () => {
  it.each([
    ['apps', 'v1', 'ControllerRevision', '85nkx63pcBU='],
    ['', 'v1', 'Pod', 'xPOwRZ+Yhw8='],
  ])('API-392 %s/%s %s', (group, version, kind, hash) => {
    expect(storageVersionHash({ group, version, kind })).toBe(hash);
  });

  it('API-392 versions that share their storage share the hash', () => {
    const hashOf = (path: string, name: string) =>
      json<{ resources: (Named & { storageVersionHash: string })[] }>(get(path)).resources.find(
        (entry) => entry.name === name,
      )?.storageVersionHash;
    expect(hashOf('/apis/autoscaling/v1', 'horizontalpodautoscalers')).toBe('qwQve8ut294=');
    expect(hashOf('/apis/autoscaling/v2', 'horizontalpodautoscalers')).toBe('qwQve8ut294=');
    expect(hashOf('/apis/events.k8s.io/v1', 'events')).toBe('r2yiGXH7wu8=');
    expect(hashOf('/api/v1', 'events')).toBe('r2yiGXH7wu8=');
  });
});

interface Discovery {
  items: {
    metadata: { name?: string };
    versions: { version: string; freshness: string; resources: ({ resource: string } & Record<string, unknown>)[] }[];
  }[];
}

describe('aggregated discovery', () => {
  it('API-393 /apis answers all groups but core, and repeats the parameters in the content type', () => {
    const response = get('/apis', { accept: `${V2},${V2BETA1},application/json` });
    expect(response.headers['content-type']).toBe(V2);
    const list = json<Discovery>(response);
    expect(list).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} });
    const names = list.items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(json<{ groups: Named[] }>(get('/apis')).groups.map(({ name }) => name));
    const apps = list.items.find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions).toMatchObject([{ version: 'v1', freshness: 'Current' }]);
    expect(apps?.versions[0]?.resources.find(({ resource }) => resource === 'deployments')).toEqual({
      resource: 'deployments',
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          subresource: 'status',
          responseKind: { group: '', version: '', kind: 'Deployment' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
  });

  it('API-393 /api answers the core group, which has no name', () => {
    const list = json<Discovery>(get('/api', { accept: V2 }));
    expect(list.items).toHaveLength(1);
    expect(list.items[0]?.metadata.name).toBeUndefined();
    const namespaces = list.items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'namespaces');
    expect(namespaces).toMatchObject({ scope: 'Cluster' });
    expect(namespaces).not.toHaveProperty('categories');
  });

  it('API-394 v2beta1 is the same content', () => {
    const response = get('/apis', { accept: `${V2BETA1},application/json` });
    expect(response.headers['content-type']).toBe(V2BETA1);
    const { items } = json<Discovery>(get('/apis', { accept: V2 }));
    expect(json(response)).toMatchObject({ apiVersion: 'apidiscovery.k8s.io/v2beta1', items });
  });

  it('API-393 it stands at the roots only', () => {
    expect(json(get('/apis/apps/v1', { accept: `${V2},application/json` }))).toMatchObject({ kind: 'APIResourceList' });
  });

  it('API-396 ETag, 304, Vary and Cache-Control', () => {
    const first = get('/apis', { accept: V2 });
    expect(first.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'public' });
    const etag = first.headers['etag'] as string;
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      const again = get('/apis', { accept: V2, 'if-none-match': known });
      expect(again.status).toBe(304);
      expect(again.headers['etag']).toBe(etag);
      expect(again.body).toHaveLength(0);
    }
    expect(get('/apis', { accept: V2, 'if-none-match': '"x"' }).status).toBe(200);
    expect(get('/apis', { accept: V2BETA1 }).headers['etag']).not.toBe(etag);
  });
});

describe('negotiateDiscovery', () => {
  const legacy = { form: 'legacy', mediaType: 'application/json' };
  const protobuf = { form: 'legacy', mediaType: 'application/vnd.kubernetes.protobuf' };
  const message =
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  const v2 = { form: 'aggregated', version: 'v2' };
  it.each([
    [undefined, legacy],
    ['', legacy],
    ['*/*', legacy],
    ['application/json', legacy],
    ['application/json;charset=utf-8', legacy],
    ['application/*', legacy],
    ['application/vnd.kubernetes.protobuf, */*', protobuf],
    ['application/vnd.kubernetes.protobuf,application/json', protobuf],
    ['application/yaml', { form: 'legacy', mediaType: 'application/yaml' }],
    [`application/yaml,${V2}`, { form: 'legacy', mediaType: 'application/yaml' }],
    [`text/html,${V2}`, v2],
    [V2, v2],
    [`${V2};profile=nopeer,${V2},application/json`, v2],
    [`${V2};profile=other,application/json`, legacy],
    [`${V2.replace('v=v2', 'v=v3')},application/json`, legacy],
    [`${V2.replace('APIGroupDiscoveryList', 'Table')},application/json`, legacy],
    [`${V2.replace('apidiscovery.k8s.io', 'meta.k8s.io')},application/json`, legacy],
    [`application/json;q=0.5,${V2}`, v2],
    [`application/json,${V2}`, legacy],
    [V2.replace('v=v2', 'v=v3'), { form: 'notAcceptable', message }],
    ['application/vnd.kubernetes.protobuf', protobuf],
  ])('API-393 API-395 %s', (accept, expected) => {
    expect(negotiateDiscovery(accept)).toEqual(expected);
  });
});

describe('a changing set of resources', () => {
  it('API-397 a new array brings new documents, with verbs and subresources sorted', () => {
    expect(handler.handle('/apis/example.com', { method: 'GET', target: '', headers: {} })).toBeUndefined();
    const before = get('/apis', { accept: V2 }).headers['etag'];
    served = [...builtinResources(), widgets, { ...widgets, version: 'v1' }, { ...widgets, version: 'v1alpha1' }];
    expect(json(get('/apis/example.com'))).toMatchObject({
      versions: [{ version: 'v1' }, { version: 'v1beta1' }, { version: 'v1alpha1' }],
      preferredVersion: { groupVersion: 'example.com/v1' },
    });
    expect(json(get('/apis/example.com/v1beta1'))).toMatchObject({
      resources: [
        { name: 'widgets', shortNames: ['wd'], categories: ['all'], verbs: widgets.verbs.toSorted() },
        { name: 'widgets/scale', group: 'autoscaling' },
        { name: 'widgets/status', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      ],
    });
    const aggregated = get('/apis', { accept: V2 });
    expect(aggregated.headers['etag']).not.toBe(before);
    expect(json<Discovery>(aggregated).items.at(-1)?.metadata.name).toBe('example.com');
    served = builtinResources();
    expect(get('/apis', { accept: V2 }).headers['etag']).toBe(before);
  });

  it('API-397 with a version counter documents stay until it changes', async () => {
    let version = 1;
    let reads = 0;
    const counted = new DiscoveryHandler({
      version: () => version,
      resources: () => {
        reads++;
        return version === 1 ? [] : [widgets];
      },
    });
    const ask = () => counted.handle('/apis/example.com/v1beta1', { method: 'GET', target: '', headers: {} });
    expect(ask()).toBeUndefined();
    version = 2;
    const first = await ask();
    expect(first?.status).toBe(200);
    expect((await ask())?.body).toBe(first?.body);
    expect(reads).toBe(2);
  });
});

describe('compareVersions', () => {
  it('API-398 stable before beta before alpha, higher number first, other names last', () => {
    const sorted = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'];
    expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted);
    expect(compareVersions('v1', 'v1')).toBe(0);
    expect(compareVersions('x', 'x')).toBe(0);
  });
});
