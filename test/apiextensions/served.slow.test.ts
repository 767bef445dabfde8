import { beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import {
  conditionOf,
  conditionsOf,
  definition,
  definitions,
  establish,
  established,
  version,
  warningsOf,
  widget,
  widgets,
} from './definition-fixture.ts';
import { until } from '../program/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

describe('a definition', () => {
  it('API-450 API-453 gets its defaults, is accepted and established', async () => {
    const created = await server.post(definitions, definition({ names: { singular: undefined, listKind: undefined } }));
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      metadata: { generation: 1 },
      spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
      status: { storedVersions: ['v1'] },
    });
    const json = await established(server, 'widgets.example.com');
    expect(json).toMatchObject({
      metadata: { generation: 1 },
      status: {
        acceptedNames: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        storedVersions: ['v1'],
      },
    });
    expect(conditionsOf(json)).toEqual([
      {
        type: 'NamesAccepted',
        status: 'True',
        lastTransitionTime: expect.any(String),
        reason: 'NoConflicts',
        message: 'no conflicts found',
      },
      {
        type: 'Established',
        status: 'True',
        lastTransitionTime: expect.any(String),
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      },
    ]);
  });

  it('API-453 a watcher sees it being installed before it is established', async () => {
    const { json } = await server.get(definitions);
    const watch = await server.watch(`${definitions}?watch=true&resourceVersion=${json.metadata?.resourceVersion}`);
    await server.post(definitions, definition());
    const events = await watch.take(3);
    expect(
      events.map(({ object }) => conditionsOf(object).map(({ type, status, reason }) => `${type} ${status} ${reason}`)),
    ).toEqual([
      [],
      ['NamesAccepted True NoConflicts', 'Established False Installing'],
      ['NamesAccepted True NoConflicts', 'Established True InitialNamesAccepted'],
    ]);
    watch.close();
  });

  it('API-454 established means that the next create succeeds, and discovery shows it', async () => {
    const names = { shortNames: ['wd'], categories: ['all'] };
    const extra = {
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
    };
    const watch = await server.watch(`${definitions}?watch=true`);
    await server.post(definitions, definition({ names, versions: [version({ extra })] }));
    for (;;) {
      const event = await watch.next();
      if (conditionOf(event!.object, 'Established')?.status === 'True') break;
    }
    watch.close();
    expect((await server.post(widgets, widget('a'))).status).toBe(201);
    const { json } = await server.get('/apis/example.com/v1');
    expect(json).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'example.com/v1',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: true,
          kind: 'Widget',
          verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['wd'],
          categories: ['all'],
          storageVersionHash: expect.any(String),
        },
        {
          name: 'widgets/scale',
          singularName: '',
          namespaced: true,
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: ['get', 'patch', 'update'],
        },
        {
          name: 'widgets/status',
          singularName: '',
          namespaced: true,
          kind: 'Widget',
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
  });

  it('API-397 API-398 groups of definitions come last, by name, and versions by priority', async () => {
    await establish(server, definition({ group: 'z.example.com' }));
    const versions = ['v1beta1', 'v2', 'v1alpha1', 'v1'].map((name) => version({ name, storage: name === 'v1' }));
    await establish(server, definition({ group: 'a.example.com', versions }));
    const { json } = await server.get('/apis');
    const groups = (json as unknown as { groups: { name: string; versions: { version: string }[] }[] }).groups;
    expect(groups.slice(-2).map(({ name }) => name)).toEqual(['a.example.com', 'z.example.com']);
    expect(groups.at(-2)?.versions.map(({ version: name }) => name)).toEqual(['v2', 'v1', 'v1beta1', 'v1alpha1']);
    const aggregated = await server.get('/apis', {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    });
    const last = aggregated.json.items.at(-2) as unknown as {
      versions: { resources: { resource: string; responseKind: object }[] }[];
    };
    expect(last.versions[0]?.resources[0]).toMatchObject({
      resource: 'widgets',
      responseKind: { kind: 'Widget' },
      scope: 'Namespaced',
    });
  });

  it('API-392 the hash of the storage version is that of the version objects lie in', async () => {
    await establish(
      server,
      definition({ versions: [version({ name: 'v1' }), version({ name: 'v2', storage: false })] }),
    );
    const hash = async (name: string): Promise<unknown> =>
      (
        (await server.get(`/apis/example.com/${name}`)).json as unknown as {
          resources: { storageVersionHash: string }[];
        }
      ).resources[0]?.storageVersionHash;
    expect(await hash('v2')).toBe(await hash('v1'));
  });

  it('API-453 names that are taken: not accepted, not served, until they are free', async () => {
    await establish(server, definition({ names: { shortNames: ['wd'] } }));
    const second = definition({
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Widget', listKind: 'GadgetList', shortNames: ['wd'] },
    });
    await server.post(definitions, second);
    const json = await until('names are judged', async () => {
      const answer = await server.get(`${definitions}/gadgets.example.com`);
      return conditionOf(answer.json, 'NamesAccepted') === undefined ? undefined : answer.json;
    });
    expect(conditionOf(json, 'NamesAccepted')).toMatchObject({
      status: 'False',
      reason: 'KindConflict',
      message: '"Widget" is already in use',
    });
    expect(conditionOf(json, 'Established')).toMatchObject({
      status: 'False',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    });
    expect(json['status']).toMatchObject({
      acceptedNames: { plural: 'gadgets', singular: 'gadget', kind: '', listKind: 'GadgetList' },
    });
    expect((await server.get('/apis/example.com/v1/gadgets')).status).toBe(404);

    await server.delete(`${definitions}/widgets.example.com`);
    expect(conditionOf(await established(server, 'gadgets.example.com'), 'NamesAccepted')?.status).toBe('True');
    expect((await server.get('/apis/example.com/v1/gadgets')).status).toBe(200);
  });

  it('API-452 groups of the community want an approval', async () => {
    const group = 'example.k8s.io';
    const refused = await server.post(definitions, definition({ group }));
    expect(refused.status).toBe(422);
    expect(refused.json.message).toContain(
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io"',
    );
    const wrong = definition({ group, metadata: { annotations: { 'api-approved.kubernetes.io': 'yes' } } });
    expect((await server.post(definitions, wrong)).json.message).toContain(
      'with either a URL or a reason starting with "unapproved"',
    );
    const url = 'https://github.com/kubernetes/kubernetes/pull/1';
    const json = await establish(
      server,
      definition({ group, metadata: { annotations: { 'api-approved.kubernetes.io': url } } }),
    );
    expect(conditionOf(json, 'KubernetesAPIApprovalPolicyConformant')).toMatchObject({
      status: 'True',
      reason: 'ApprovedAnnotation',
      message: `approved in ${url}`,
    });
  });

  it('API-450 a format that nobody knows is kept, and warned of when it is new', async () => {
    const spec = {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer', format: 'odd' } },
    };
    const object = definition({ versions: [version({ schema: { type: 'object', properties: { spec } } })] });
    const created = await server.post(definitions, object);
    const words = ['unrecognized format "odd"'];
    expect(warningsOf(created.headers)).toEqual(words);
    const json = await established(server, 'widgets.example.com');
    const update = async (text: string) => {
      const answer = await server.put(`${definitions}/widgets.example.com`, JSON.parse(text));
      return { warnings: warningsOf(answer.headers), text: JSON.stringify(answer.json) };
    };
    const labelled = await update(JSON.stringify(json).replace('"metadata":{', '"metadata":{"labels":{"a":"b"},'));
    expect(labelled.warnings).toEqual([]);
    const other = await update(labelled.text.replace('"format":"odd"', '"format":"odder"'));
    expect(other.warnings).toEqual(['unrecognized format "odder"']);
    expect((await server.post(widgets, widget('a', { spec: { a: 2, b: 1 } }))).status).toBe(201);
  });
});

describe('what a definition may be', () => {
  const refused = async (object: object): Promise<string> => {
    const { status, json } = await server.post(definitions, object);
    expect(status).toBe(422);
    return (json.message ?? '').replace(/^CustomResourceDefinition\.apiextensions\.k8s\.io "[^"]*" is invalid: /, '');
  };

  it.each<[string, object, string | RegExp]>([
    [
      'its name',
      definition({ metadata: { name: 'a.example.com' } }),
      'metadata.name: Invalid value: "a.example.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      'a group with a dot',
      definition({ group: 'example' }),
      'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ],
    [
      'a scope',
      definition({ scope: 'World' }),
      'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"',
    ],
    [
      'one storage version',
      definition({ versions: [version({ storage: false })] }),
      'spec.versions: Invalid value: [{"name":"v1","served":true,"storage":false}]: must have exactly one version marked as storage version',
    ],
    [
      'versions of different names',
      definition({ versions: [version(), version({ storage: false })] }),
      'spec.versions: Invalid value: [{"name":"v1","served":true,"storage":true},{"name":"v1","served":true,"storage":false}]: must contain unique version names',
    ],
    [
      'a schema',
      definition({ versions: [{ name: 'v1', served: true, storage: true }] }),
      'spec.versions[0].schema.openAPIV3Schema: Required value',
    ],
    [
      'names that are labels',
      definition({ names: { kind: 'Wid get' } }),
      /^spec\.names\.kind: Invalid value: "Wid get": may have mixed case, but should otherwise match: a DNS-1035 label/,
    ],
    [
      'another kind of list',
      definition({ names: { listKind: 'Widget' } }),
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
    [
      'a name of a version',
      definition({ versions: [version({ name: '1' })] }),
      /^spec\.versions\[0\]\.name: Invalid value: "1": a DNS-1035 label/,
    ],
    [
      'a structural schema',
      definition({ versions: [version({ schema: { type: 'object', properties: { a: {} } } })] }),
      'spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ],
    [
      'no preserving at the top',
      definition({ spec: { preserveUnknownFields: true } }),
      /^spec\.preserveUnknownFields: Invalid value: true: cannot set to true/,
    ],
    [
      'a root that goes with status',
      definition({
        versions: [version({ schema: { type: 'object', maxProperties: 3 }, extra: { subresources: { status: {} } } })],
      }),
      /^spec\.versions\[0\]\.schema\.openAPIV3Schema: Invalid value: "": only \[Description Type /,
    ],
    [
      'paths of a scale',
      definition({
        versions: [
          version({ extra: { subresources: { scale: { specReplicasPath: '.status.a', statusReplicasPath: 'x' } } } }),
        ],
      }),
      '[spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec, spec.versions[0].subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .]',
    ],
    [
      'types of columns',
      definition({
        versions: [version({ extra: { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] } })],
      }),
      'spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ],
    [
      'fields to select by',
      definition({
        versions: [
          version({
            schema: { type: 'object', properties: { a: { type: 'number' } } },
            extra: { selectableFields: [{ jsonPath: '.a' }, { jsonPath: '.b' }] },
          }),
        ],
      }),
      '[spec.versions[0].selectableFields[0].jsonPath: Invalid value: ".a": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed., spec.versions[0].selectableFields[1].jsonPath: Invalid value: ".b": is an invalid path: does not refer to a valid field]',
    ],
    [
      'words about what is not deprecated',
      definition({ versions: [version({ extra: { deprecationWarning: 'old' } })] }),
      'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
    ],
  ])('API-450 API-451 API-469 %s', async (_what, object, wanted) => {
    const message = await refused(object);
    if (typeof wanted === 'string') expect(message).toBe(wanted);
    else expect(message).toMatch(wanted);
  });

  it('API-450 several things at once', async () => {
    expect(await refused({ ...definition(), spec: {} })).toMatch(
      /^\[.*spec\.group: Required value.*spec\.scope: Required value/,
    );
  });

  describe('and become', () => {
    const update = async (change: (spec: Record<string, unknown>) => void) => {
      const { json } = await server.get(`${definitions}/widgets.example.com`);
      change(json['spec'] as Record<string, unknown>);
      return server.put(`${definitions}/widgets.example.com`, json);
    };

    it('API-473 not of another scope, kind, group or plural', async () => {
      await establish(server, definition());
      const { status, json } = await update((spec) => {
        spec['scope'] = 'Cluster';
        spec['names'] = { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo', listKind: 'GizmoList' };
      });
      expect(status).toBe(422);
      expect(json.details?.causes?.map(({ field, message }) => `${field}: ${message}`)).toEqual([
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Gizmo": field is immutable',
        'spec.names.plural: Invalid value: "gizmos": field is immutable',
      ]);
    });

    it('API-473 not without a version that was stored in', async () => {
      await establish(server, definition());
      const moved = await update((spec) => {
        spec['versions'] = [version({ storage: false }), version({ name: 'v2' })];
      });
      expect(moved.json).toMatchObject({ metadata: { generation: 2 }, status: { storedVersions: ['v1', 'v2'] } });
      const gone = await update((spec) => {
        spec['versions'] = [version({ name: 'v2' })];
      });
      expect(gone.status).toBe(422);
      expect(gone.json.message).toContain(
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      );
      await server.patch(`${definitions}/widgets.example.com/status`, { status: { storedVersions: ['v2'] } });
      expect((await update((spec) => (spec['versions'] = [version({ name: 'v2' })]))).status).toBe(200);
      expect((await server.get('/apis/example.com/v1')).status).toBe(404);
      expect((await server.get('/apis/example.com/v2/widgets')).status).toBe(200);
    });

    it('API-172 not without its resourceVersion', async () => {
      await establish(server, definition());
      const { status, json } = await server.put(`${definitions}/widgets.example.com`, definition());
      expect([status, json.message]).toEqual([
        422,
        'customresourcedefinitions.apiextensions.k8s.io "widgets.example.com" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ]);
    });

    it('API-453 new short names are served once they are accepted', async () => {
      await establish(server, definition());
      await update((spec) => {
        spec['names'] = { ...(spec['names'] as object), shortNames: ['wd'] };
      });
      await until('the short name is served', async () => {
        const { json } = await server.get('/apis/example.com/v1');
        return JSON.stringify(json).includes('"shortNames":["wd"]') ? true : undefined;
      });
    });
  });
});
