import { beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';

/** Sections 19 and 20 through the handler of the whole server. */

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ address: () => ({ host: '10.1.2.3', port: 6443 }) });
});

interface Group {
  readonly name: string;
  readonly versions: { readonly groupVersion: string; readonly version: string }[];
  readonly preferredVersion: object;
}
interface Resource extends Record<string, unknown> {
  readonly name: string;
  readonly verbs: string[];
}

const document = async <T>(target: string, headers?: Record<string, string>): Promise<T> => {
  const { status, json } = await server.get(target, headers);
  expect([target, status]).toEqual([target, 200]);
  return json as unknown as T;
};

const groupOrder = [
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

describe('discovery', () => {
  it('API-390 /api says where the server is', async () => {
    expect(await document('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.1.2.3:6443' }],
    });
  });

  it('API-390 API-398 API-399 /apis lists the groups in the order of their priority, and each stands alone too', async () => {
    const { kind, apiVersion, groups } = await document<{ kind: string; apiVersion: string; groups: Group[] }>('/apis');
    expect([kind, apiVersion]).toEqual(['APIGroupList', 'v1']);
    expect(groups.map(({ name }) => name)).toEqual(groupOrder);
    expect(groups.find(({ name }) => name === 'autoscaling')?.versions.map(({ version }) => version)).toEqual([
      'v2',
      'v1',
    ]);
    for (const group of groups) {
      expect(group.preferredVersion).toEqual(group.versions[0]);
      for (const { groupVersion, version } of group.versions) expect(groupVersion).toBe(`${group.name}/${version}`);
      expect(await document(`/apis/${group.name}`)).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group });
    }
  });

  it('API-391 every resource of every version, sorted verbs, and subresources as entries of their own', async () => {
    const { groups } = await document<{ groups: Group[] }>('/apis');
    const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
    for (const groupVersion of ['v1', ...versions]) {
      const target = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
      const list = await document<{ kind: string; groupVersion: string; resources: Resource[]; apiVersion?: string }>(
        target,
      );
      expect(list).toMatchObject({ kind: 'APIResourceList', groupVersion });
      expect(list.apiVersion).toBe(groupVersion === 'v1' ? undefined : 'v1');
      for (const { name, verbs, singularName, kind, namespaced } of list.resources) {
        expect(verbs).toEqual(verbs.toSorted());
        expect([typeof singularName, typeof kind, typeof namespaced]).toEqual(['string', 'string', 'boolean']);
        expect([name, singularName === '']).toEqual([name, name.includes('/')]);
      }
    }
    const { resources } = await document<{ resources: Resource[] }>('/apis/apps/v1');
    expect(resources.find(({ name }) => name === 'deployments')).toMatchObject({
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      storageVersionHash: expect.any(String),
    });
    expect(resources.find(({ name }) => name === 'deployments/scale')).toEqual({
      name: 'deployments/scale',
      singularName: '',
      namespaced: true,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    });
  });

  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  it.each([
    aggregated,
    `application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,${aggregated},application/json`,
    `${aggregated};profile=nopeer,${aggregated},application/json`,
  ])('API-393 API-395 aggregated, as asked by %s', async (accept) => {
    for (const target of ['/api', '/apis']) {
      const { status, headers, json } = await server.get(target, { accept });
      expect([status, headers['content-type']]).toEqual([200, aggregated]);
      expect(headers['vary']).toBe('Accept');
      expect(json).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
      const again = await server.get(target, { accept, 'if-none-match': String(headers['etag']) });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
    }
  });

  it('API-393 the aggregated document says what the others say', async () => {
    const core = (await server.get('/api', { accept: aggregated })).json;
    const groups = (await server.get('/apis', { accept: aggregated })).json;
    expect(groups.items.map(({ metadata }) => metadata?.name)).toEqual(groupOrder);
    for (const item of [...core.items, ...groups.items]) {
      const group = item.metadata?.name;
      for (const version of item['versions'] as {
        version: string;
        resources: { resource: string; subresources?: { subresource: string }[] }[];
      }[]) {
        const target = group === undefined ? '/api/v1' : `/apis/${group}/${version.version}`;
        const { resources } = await document<{ resources: Resource[] }>(target);
        const names = version.resources.flatMap(({ resource, subresources }) => [
          resource,
          ...(subresources ?? []).map(({ subresource }) => `${resource}/${subresource}`),
        ]);
        expect(names.toSorted()).toEqual(resources.map(({ name }) => name).toSorted());
      }
    }
  });
});

describe('OpenAPI', () => {
  interface Index {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  }
  interface Operation {
    readonly parameters?: { readonly name: string; readonly in: string }[];
    readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
    readonly 'x-kubernetes-group-version-kind'?: object;
  }
  interface Schema {
    readonly properties?: Readonly<Record<string, Record<string, unknown>>>;
    readonly description?: string;
    readonly 'x-kubernetes-group-version-kind'?: readonly object[];
  }
  interface Document {
    readonly openapi: string;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  }

  it('API-410 API-411 an index, documents for ever under their hash, and the way there from a wrong one', async () => {
    const { paths } = await document<Index>('/openapi/v3');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1']),
    );
    const url = paths['apis/apps/v1']?.serverRelativeURL ?? '';
    expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
    const right = await server.get(url);
    expect(right.headers['cache-control']).toContain('immutable');
    expect(Date.parse(String(right.headers['expires']))).toBeGreaterThan(Date.now() + 300 * 86_400_000);
    const wrong = await server.get('/openapi/v3/apis/apps/v1?hash=00');
    expect([wrong.status, wrong.headers['location']]).toEqual([301, url]);
    const plain = await server.get('/openapi/v3/apis/apps/v1');
    expect([plain.status, plain.text === right.text]).toEqual([200, true]);
    const known = await server.get('/openapi/v3/apis/apps/v1', { 'if-none-match': String(plain.headers['etag']) });
    expect(known.status).toBe(304);
    expect((await server.get('/openapi/v3/apis/apps/v9')).status).toBe(404);
  });

  it('API-413 API-414 what kubectl looks for stands in every document, for every kind that can be patched', async () => {
    const { paths } = await document<Index>('/openapi/v3');
    for (const groupVersion of Object.keys(paths).filter((name) => name.split('/').length > 1)) {
      const target = `/${groupVersion}`;
      const { resources } = await document<{ resources: Resource[] }>(target);
      const doc = await document<Document>(`/openapi/v3/${groupVersion}`);
      expect(doc.openapi).toMatch(/^3\.0\./);
      for (const { name, kind, verbs, namespaced } of resources) {
        if (name.includes('/') || !verbs.includes('patch')) continue;
        const path = `${target}${namespaced === true ? '/namespaces/{namespace}' : ''}/${name}/{name}`;
        const patch = doc.paths[path]?.['patch'];
        const [, group = '', version = ''] = groupVersion === 'api/v1' ? ['', '', 'v1'] : groupVersion.split('/');
        expect([path, patch?.['x-kubernetes-group-version-kind']]).toEqual([path, { group, version, kind }]);
        expect(patch?.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }));
        expect(Object.keys(patch?.requestBody?.content ?? {})).toContain('application/strategic-merge-patch+json');
        const schema = Object.values(doc.components.schemas).find((candidate) =>
          candidate['x-kubernetes-group-version-kind']?.some(
            (gvk) =>
              JSON.stringify(gvk) === JSON.stringify({ group, kind, version }) ||
              JSON.stringify(gvk) === JSON.stringify({ group, version, kind }),
          ),
        );
        expect([kind, Object.keys(schema?.properties ?? {})]).toEqual([
          kind,
          expect.arrayContaining(['apiVersion', 'kind', 'metadata']),
        ]);
      }
      const meta = doc.components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'];
      expect(Object.keys(meta?.properties ?? {})).toEqual(
        expect.arrayContaining(['annotations', 'ownerReferences', 'finalizers']),
      );
      expect(meta?.properties?.['ownerReferences']).toMatchObject({
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      });
    }
  });

  it('API-416 the document of namespaces says that fields are validated', async () => {
    const { paths } = await document<Document>('/openapi/v3/api/v1');
    expect(paths['/api/v1/namespaces/{name}']?.['patch']).toMatchObject({
      'x-kubernetes-group-version-kind': { group: '', version: 'v1', kind: 'Namespace' },
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation', in: 'query' })]),
    });
  });
});
