import { beforeEach, describe, expect, it } from 'vitest';
import type { HttpHeaders, HttpResponse } from '../../base/http-message.ts';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { JsonSchema } from './json-schema.ts';
import { OpenApiHandler } from './openapi-handler.ts';

const NOW = Date.UTC(2026, 0, 1);

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, unknown> };
  responses?: Record<string, { content?: object }>;
  'x-kubernetes-action'?: string;
  'x-kubernetes-group-version-kind'?: unknown;
}

let served: readonly ResourceInfo[];
let handler: OpenApiHandler;

beforeEach(() => {
  served = builtinResources();
  handler = new OpenApiHandler({ resources: () => served, clock: { now: () => NOW } });
});

function get(target: string, headers: HttpHeaders = {}, method = 'GET'): HttpResponse {
  const [path = ''] = target.split('?');
  const response = handler.handle(path, { method, target, headers });
  if (response === undefined) throw new Error(`nothing at ${target}`);
  return response;
}

function json<T = Document>(response: HttpResponse): T {
  return JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as T;
}

interface Index {
  paths: Record<string, { serverRelativeURL: string }>;
}

const urlOf = (name: string): string => json<Index>(get('/openapi/v3')).paths[name]?.serverRelativeURL ?? '';

const CORE = 'io.k8s.api.core.v1';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const ref = (name: string): string => `#/components/schemas/${name}`;

describe('index', () => {
  it('API-410 names every group version with the hash of its document', () => {
    const { paths } = json<Index>(get('/openapi/v3'));
    const names = new Set(served.map(({ group, version }) => (group === '' ? 'api/v1' : `apis/${group}/${version}`)));
    expect(new Set(Object.keys(paths))).toEqual(names);
    for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
      expect(serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{64}$`));
    }
  });

  it('API-411 has an ETag of its own', () => {
    const { etag } = get('/openapi/v3').headers;
    expect(get('/openapi/v3', { 'if-none-match': etag as string }).status).toBe(304);
  });
});

describe('serving a document', () => {
  it('API-411 the right hash: never changes, for a year', () => {
    const response = get(urlOf('apis/apps/v1'));
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, immutable',
      expires: 'Fri, 01 Jan 2027 00:00:00 GMT',
      vary: 'Accept',
    });
  });

  it('API-411 a wrong hash: moved to the right one', () => {
    const response = get('/openapi/v3/apis/apps/v1?hash=0123');
    expect(response.status).toBe(301);
    expect(response.headers['location']).toBe(urlOf('apis/apps/v1'));
  });

  it('API-411 without a hash: the document with its ETag, 304 for who has it', () => {
    const first = get('/openapi/v3/api/v1?timeout=32s');
    expect(first.status).toBe(200);
    expect(first.headers).not.toHaveProperty('cache-control');
    const etag = first.headers['etag'] as string;
    expect(urlOf('api/v1')).toContain(`hash=${etag.slice(1, -1)}`);
    expect(get('/openapi/v3/api/v1', { 'if-none-match': etag }).status).toBe(304);
  });

  it('API-419 it is made once', () => {
    expect(get('/openapi/v3/apis/apps/v1').body).toBe(get(urlOf('apis/apps/v1')).body);
  });

  it.each(['/openapi/v3/apis/apps/v9', '/openapi/v3/apis/nothing/v1', '/openapi', '/openapi/v3x'])(
    'API-411 there is nothing at %s',
    (path) => {
      expect(handler.handle(path, { method: 'GET', target: path, headers: {} })).toBeUndefined();
    },
  );

  it('API-412 not built, refused: documents of OpenAPI v3 in protobuf are a 406 that names JSON; who takes both gets that', () => {
    const protobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
    const alone = get('/openapi/v3/apis/apps/v1', { accept: protobuf });
    expect([alone.status, JSON.parse(Buffer.from(alone.body as Uint8Array).toString())]).toEqual([
      406,
      expect.objectContaining({
        kind: 'Status',
        reason: 'NotAcceptable',
        message: 'only the following media types are accepted: application/json',
      }),
    ]);
    expect(get('/openapi/v3/apis/apps/v1', { accept: `${protobuf}, application/json` }).status).toBe(200);
    expect(get('/openapi/v3', { accept: 'application/json, */*' }).status).toBe(200);
  });

  it('API-411 documents are for GET', () => {
    expect(get('/openapi/v3', {}, 'POST').status).toBe(405);
  });
});

describe('schemas', () => {
  const schemas = (name: string) => json(get(`/openapi/v3/${name}`)).components.schemas;

  it('API-413 a kind carries its group, version and kind in a list', () => {
    const pod = schemas('api/v1')[`${CORE}.Pod`];
    expect(pod).toMatchObject({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }],
    });
    expect(pod?.properties?.['spec']).toEqual({
      description: expect.any(String),
      allOf: [{ $ref: ref(`${CORE}.PodSpec`) }],
      default: {},
    });
  });

  it('API-413 merge keys and list types are those of the published schema', () => {
    const core = schemas('api/v1');
    const { containers, nodeSelector } = core[`${CORE}.PodSpec`]?.properties ?? {};
    expect(containers).toMatchObject({
      type: 'array',
      items: { $ref: ref(`${CORE}.Container`) },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(nodeSelector).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'string' },
      'x-kubernetes-map-type': 'atomic',
    });
    expect(core[`${CORE}.PodSpec`]?.required).toEqual(['containers']);
    expect(core[`${CORE}.LocalObjectReference`]).toMatchObject({ 'x-kubernetes-map-type': 'atomic' });
    expect(core[`${CORE}.SeccompProfile`]).toMatchObject({
      'x-kubernetes-unions': [
        { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
      ],
    });
    expect(core[`${CORE}.ContainerPort`]?.properties?.['protocol']).toMatchObject({ type: 'string', default: 'TCP' });
  });

  it('API-413 types with a JSON form of their own', () => {
    const core = schemas('api/v1');
    expect(core['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toMatchObject({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    });
    expect(core['io.k8s.apimachinery.pkg.api.resource.Quantity']).toMatchObject({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    });
    expect(core[`${META}.Time`]).toMatchObject({ type: 'string', format: 'date-time' });
    expect(core[`${META}.MicroTime`]).toMatchObject({ type: 'string', format: 'date-time' });
    expect(core[`${CORE}.Secret`]?.properties?.['data']).toMatchObject({
      additionalProperties: { type: 'string', format: 'byte' },
    });
    expect(core[`${META}.ObjectMeta`]?.properties?.['creationTimestamp']).not.toHaveProperty('default');
  });

  it('API-414 metadata is the full ObjectMeta, in every document', () => {
    for (const name of ['api/v1', 'apis/apps/v1', 'apis/rbac.authorization.k8s.io/v1']) {
      const { properties = {} } = schemas(name)[`${META}.ObjectMeta`] ?? {};
      expect(Object.keys(properties).toSorted()).toEqual([
        'annotations',
        'creationTimestamp',
        'deletionGracePeriodSeconds',
        'deletionTimestamp',
        'finalizers',
        'generateName',
        'generation',
        'labels',
        'managedFields',
        'name',
        'namespace',
        'ownerReferences',
        'resourceVersion',
        'selfLink',
        'uid',
      ]);
      expect(properties['annotations']).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } });
    }
  });

  it('API-413 every reference of every document leads to a schema, and what is described is so in sentences', () => {
    for (const name of Object.keys(json<Index>(get('/openapi/v3')).paths)) {
      const text = Buffer.from(get(`/openapi/v3/${name}`).body as Uint8Array).toString();
      const document = JSON.parse(text) as Document;
      const known = new Set(Object.keys(document.components.schemas).map(ref));
      for (const [, target] of text.matchAll(/"\$ref":"([^"]+)"/g)) expect(known, name).toContain(target);
      for (const [definition, schema] of Object.entries(document.components.schemas)) {
        expect(schema.description ?? 'None.', definition).toMatch(/^[A-Z].*\.$/);
        for (const [field, property] of Object.entries(schema.properties ?? {})) {
          expect(property.description ?? 'None.', `${definition}.${field}`).toMatch(
            /^[A-Z].*\.(?: More info: https:\S+)?$/,
          );
          expect(property.type ?? property.allOf ?? property.oneOf, `${definition}.${field} has a type`).toBeDefined();
        }
      }
    }
  });

  it('API-413 each kind that is served has exactly one schema that says so', () => {
    for (const { group, version, kind } of served) {
      const all = Object.values(schemas(group === '' ? 'api/v1' : `apis/${group}/${version}`));
      const own = all.filter((schema) =>
        (
          schema['x-kubernetes-group-version-kind'] as { kind: string; group: string; version: string }[] | undefined
        )?.some((gvk) => gvk.kind === kind && gvk.group === group && gvk.version === version),
      );
      expect(own, `${group}/${version} ${kind}`).toHaveLength(1);
    }
  });

  it('API-413 options that go with any group name the one of the document too', () => {
    const options = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
    expect(schemas('apis/apps/v1')[options]).toMatchObject({
      'x-kubernetes-group-version-kind': [
        { group: '', version: 'v1', kind: 'DeleteOptions' },
        { group: 'apps', version: 'v1', kind: 'DeleteOptions' },
      ],
    });
    expect(schemas('apis/authorization.k8s.io/v1')).not.toHaveProperty([options]);
  });

  it('API-413 descriptions are words of ours and facts of the types; a field that has neither has none', () => {
    const { properties = {} } = schemas('api/v1')[`${CORE}.ServiceSpec`] ?? {};
    expect(properties['ports']?.description).toBe(
      'Ports of the Service. One entry per port and protocol. Strategic merge patch merges by port.',
    );
    expect(properties['selector']?.description).toMatch(
      /^Labels of the pods traffic goes to\. .* Server-side apply takes it as a whole\.$/,
    );
    expect(schemas('api/v1')[`${CORE}.ContainerPort`]?.properties?.['protocol']?.description).toBe(
      'TCP, UDP or SCTP. Default: TCP.',
    );
    const devices = schemas('apis/resource.k8s.io/v1')['io.k8s.api.resource.v1.DeviceClaimConfiguration'];
    expect(devices?.properties?.['opaque']).toBeDefined();
    expect(devices?.properties?.['opaque']).not.toHaveProperty('description');
  });
});

describe('paths', () => {
  it('API-413 API-415 patch: kind, fieldValidation and strategic merge, for every kind that can be patched', () => {
    for (const info of served.filter(({ verbs }) => verbs.includes('patch'))) {
      const name = info.group === '' ? 'api/v1' : `apis/${info.group}/${info.version}`;
      const scope = info.namespaced ? '/namespaces/{namespace}' : '';
      const operation = json(get(`/openapi/v3/${name}`)).paths[`/${name}${scope}/${info.resource}/{name}`]?.['patch'];
      expect(operation?.['x-kubernetes-group-version-kind']).toEqual({
        group: info.group,
        version: info.version,
        kind: info.kind,
      });
      expect(operation?.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }));
      expect(Object.keys(operation?.requestBody?.content ?? {})).toEqual([
        'application/apply-patch+yaml',
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
      ]);
    }
  });

  it('API-413 operations have the names of upstream', () => {
    const { paths } = json(get('/openapi/v3/api/v1'));
    const ids = (path: string) =>
      Object.fromEntries(
        Object.entries(paths[path] ?? {})
          .filter(([method]) => method !== 'parameters')
          .map(([method, { operationId }]) => [method, operationId]),
      );
    expect(ids('/api/v1/namespaces/{namespace}/pods')).toEqual({
      get: 'listCoreV1NamespacedPod',
      post: 'createCoreV1NamespacedPod',
      delete: 'deleteCoreV1CollectionNamespacedPod',
    });
    expect(ids('/api/v1/namespaces/{namespace}/pods/{name}')).toEqual({
      get: 'readCoreV1NamespacedPod',
      put: 'replaceCoreV1NamespacedPod',
      patch: 'patchCoreV1NamespacedPod',
      delete: 'deleteCoreV1NamespacedPod',
    });
    expect(ids('/api/v1/pods')).toEqual({ get: 'listCoreV1PodForAllNamespaces' });
    expect(ids('/api/v1/nodes/{name}/status')).toEqual({
      get: 'readCoreV1NodeStatus',
      put: 'replaceCoreV1NodeStatus',
      patch: 'patchCoreV1NodeStatus',
    });
    expect(ids('/api/v1/namespaces/{namespace}/pods/{name}/eviction')).toEqual({
      post: 'createCoreV1NamespacedPodEviction',
    });
    expect(paths).not.toHaveProperty(['/api/v1/namespaces/{namespace}/pods/{name}/exec']);
    expect(json(get('/openapi/v3/apis/rbac.authorization.k8s.io/v1')).paths).toMatchObject({
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}': {
        get: { operationId: 'readRbacAuthorizationV1ClusterRole', tags: ['rbacAuthorization_v1'] },
      },
    });
  });

  it('API-413 API-021 lists of built-in kinds name the media types of their watches, other answers do not', () => {
    const { paths } = json(get('/openapi/v3/apis/apps/v1'));
    const typesOf = (path: string, method: string): string[] => {
      const { responses } = paths[path]?.[method] ?? {};
      return Object.keys(responses?.['200']?.content ?? {}).filter((type) => type.endsWith(';stream=watch'));
    };
    const watched = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
    const namespaced = '/apis/apps/v1/namespaces/{namespace}/deployments';
    expect(typesOf('/apis/apps/v1/deployments', 'get')).toEqual(watched);
    expect(typesOf(namespaced, 'get')).toEqual(watched);
    expect(typesOf(namespaced, 'post')).toEqual([]);
    expect(typesOf(`${namespaced}/{name}`, 'get')).toEqual([]);
  });

  it('API-413 a kind that is only asked has one operation', () => {
    const { paths } = json(get('/openapi/v3/apis/authorization.k8s.io/v1'));
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    expect(Object.keys(paths[path] ?? {})).toEqual(['post', 'parameters']);
    expect(paths).not.toHaveProperty([`${path}/{name}`]);
  });
});

describe('custom resources', () => {
  const { typeName: _, ...deployment } = builtin('apps', 'deployments');
  const widgets: ResourceInfo = {
    ...deployment,
    group: 'stable.example.com',
    version: 'v1',
    resource: 'widgets',
    kind: 'Widget',
    listKind: 'WidgetList',
    singular: 'widget',
    subresources: [
      {
        name: 'status',
        verbs: ['get', 'patch', 'update'],
        kind: { group: 'stable.example.com', version: 'v1', kind: 'Widget' },
      },
      {
        name: 'scale',
        verbs: ['get', 'patch', 'update'],
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      },
    ],
  };
  const NAME = 'com.example.stable.v1.Widget';

  it('API-417 apiVersion, kind and metadata are described in the words that clients compare', () => {
    handler = new OpenApiHandler({ resources: () => [...served, widgets], customSchema: () => ({ type: 'object' }) });
    const schemas = (name: string) => json(get(`/openapi/v3/${name}`)).components.schemas;
    const core = schemas('api/v1');
    for (const schema of [core[`${CORE}.ConfigMap`], schemas('apis/stable.example.com/v1')[NAME]]) {
      const { apiVersion, kind, metadata } = schema?.properties ?? {};
      expect(apiVersion?.description).toMatch(
        /^APIVersion defines the versioned schema of this .* More info: .*#resources$/,
      );
      expect(kind?.description).toMatch(/^Kind is a string value representing the REST .* More info: .*#types-kinds$/);
      expect(metadata?.description).toMatch(/^Standard object's metadata\. More info: .*#metadata$/);
    }
    expect(core[`${META}.ObjectMeta`]?.properties?.['creationTimestamp']?.description).toMatch(
      /^CreationTimestamp is a timestamp/,
    );
    expect(core[`${META}.OwnerReference`]?.properties?.['kind']?.description).not.toMatch(/REST resource/);
  });

  it('API-417 the schema of the definition, with full metadata, under a name made from the group', () => {
    const schema: JsonSchema = {
      type: 'object',
      description: 'A widget.',
      required: ['spec'],
      properties: {
        metadata: { type: 'object' },
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
      },
    };
    handler = new OpenApiHandler({ resources: () => [...served, widgets], customSchema: () => schema });
    const document = json(get('/openapi/v3/apis/stable.example.com/v1'));
    expect(document.components.schemas[NAME]).toEqual({
      type: 'object',
      description: 'A widget.',
      required: ['spec'],
      properties: {
        apiVersion: { type: 'string', description: expect.any(String) },
        kind: { type: 'string', description: expect.any(String) },
        metadata: { description: expect.any(String), allOf: [{ $ref: ref(`${META}.ObjectMeta`) }] },
        spec: { type: 'object', properties: { size: { type: 'integer' } } },
      },
      'x-kubernetes-group-version-kind': [{ group: 'stable.example.com', version: 'v1', kind: 'Widget' }],
    });
    expect(document.components.schemas[`${NAME}List`]).toMatchObject({
      properties: { items: { items: { $ref: ref(NAME) } } },
      'x-kubernetes-group-version-kind': [{ kind: 'WidgetList' }],
    });
    expect(document.components.schemas).toHaveProperty([`${META}.ObjectMeta`]);
    expect(document.components.schemas).toHaveProperty(['io.k8s.api.autoscaling.v1.Scale']);
    const item = document.paths['/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}'];
    expect(Object.keys(item?.['patch']?.requestBody?.content ?? {})).not.toContain(
      'application/strategic-merge-patch+json',
    );
  });

  it('API-417 without a schema anything goes', () => {
    served = [...served, widgets];
    expect(json(get('/openapi/v3/apis/stable.example.com/v1')).components.schemas[NAME]).toMatchObject({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });

  it('API-417 a changed schema changes the hash of its document only', () => {
    let schema: JsonSchema = { type: 'object' };
    let version = 1;
    handler = new OpenApiHandler({
      resources: () => [...served, widgets],
      version: () => version,
      customSchema: () => schema,
    });
    const before = [urlOf('apis/stable.example.com/v1'), urlOf('apis/apps/v1')];
    const apps = get('/openapi/v3/apis/apps/v1').body;
    schema = { type: 'object', properties: { spec: { type: 'string' } } };
    expect(urlOf('apis/stable.example.com/v1')).toBe(before[0]);
    version = 2;
    expect(urlOf('apis/stable.example.com/v1')).not.toBe(before[0]);
    expect(urlOf('apis/apps/v1')).toBe(before[1]);
    expect(get('/openapi/v3/apis/apps/v1').body).toBe(apps);
  });
});

function builtin(group: string, resource: string): ResourceInfo {
  const found = builtinResources().find((info) => info.group === group && info.resource === resource);
  if (found === undefined) throw new Error(resource);
  return found;
}
