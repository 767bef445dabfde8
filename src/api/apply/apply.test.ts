import { describe, expect, it } from 'vitest';
import type { StatusError } from '../status-error.ts';
import { ApplyScenario } from './apply-scenario.fixture.ts';
import { TypedValueError } from './typed-value-error.ts';

const configMap = (): ApplyScenario => new ApplyScenario('v1', 'ConfigMap');
const deployment = (): ApplyScenario => new ApplyScenario('apps/v1', 'Deployment');

function refusal(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    return error as StatusError;
  }
  throw new Error('nothing was refused');
}

const web = (spec: object, container: object = {}): object => ({
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx:1', ...container }] },
    },
    ...spec,
  },
});
const containers = (scenario: ApplyScenario): { name: string; [field: string]: unknown }[] =>
  scenario.get('spec', 'template', 'spec', 'containers') as never;

describe('server-side apply', () => {
  it('API-210 API-215 creates, and owns exactly what was said, not what was defaulted', () => {
    const scenario = deployment().apply(web({ replicas: 3 }, { ports: [{ containerPort: 80 }] }), { manager: 'a' });
    expect(scenario.get('spec', 'revisionHistoryLimit')).toBe(10);
    expect(scenario.entries).toEqual([
      {
        manager: 'a',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        time: '2026-11-21T12:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:template': {
              'f:metadata': { 'f:labels': { 'f:app': {} } },
              'f:spec': {
                'f:containers': {
                  'k:{"name":"web"}': {
                    '.': {},
                    'f:image': {},
                    'f:name': {},
                    'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
                  },
                },
              },
            },
          },
        },
      },
    ]);
  });

  it('API-213 another value of a field of an applier is a conflict, reported in the words of the protocol', () => {
    const scenario = configMap().apply({ data: { a: '1', b: '1' } }, { manager: 'one' });
    const error = refusal(() => scenario.apply({ data: { a: '2' } }, { manager: 'two' }));
    expect(error.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
    expect([error.code, error.reason]).toEqual([409, 'Conflict']);
    expect(error.details).toEqual({
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
    });
    expect(scenario.get('data')).toEqual({ a: '1', b: '1' });
  });

  it('API-213 several conflicts are listed by manager, with version and subresource of updates', () => {
    const scenario = configMap()
      .apply({ data: { a: '1', b: '1' } }, { manager: 'zeta' })
      .update((object) => ({ ...object, data: { ...(object['data'] as object), c: '1' } }), { manager: 'alpha' })
      .update((object) => ({ ...object, data: { ...(object['data'] as object), d: '1' } }), {
        manager: 'beta',
        subresource: 'scale',
      });
    const error = refusal(() => scenario.apply({ data: { a: '2', b: '2', c: '2', d: '2' } }, { manager: 'new' }));
    expect(error.message).toBe(
      [
        'Apply failed with 4 conflicts: conflicts with "alpha" using v1:',
        '- .data.c',
        'conflicts with "beta" with subresource "scale" using v1:',
        '- .data.d',
        'conflicts with "zeta":',
        '- .data.a',
        '- .data.b',
      ].join('\n'),
    );
    expect(error.details.causes?.map(({ message, field }) => [message, field])).toEqual([
      ['conflict with "alpha" using v1', '.data.c'],
      ['conflict with "beta" with subresource "scale" using v1', '.data.d'],
      ['conflict with "zeta"', '.data.a'],
      ['conflict with "zeta"', '.data.b'],
    ]);
  });

  it('API-210 API-213 force takes the field over; the other manager keeps the rest', () => {
    const scenario = configMap()
      .apply({ data: { a: '1', b: '1' } }, { manager: 'one' })
      .apply({ data: { a: '2' } }, { manager: 'two', force: true });
    expect(scenario.get('data')).toEqual({ a: '2', b: '1' });
    expect(scenario.owners).toEqual({ one: { 'f:data': { 'f:b': {} } }, two: { 'f:data': { 'f:a': {} } } });
  });

  it('API-213 the same value is no conflict: both own the field, and it goes with the last of them', () => {
    const scenario = configMap()
      .apply({ data: { a: '1' } }, { manager: 'one' })
      .apply({ data: { a: '1' } }, { manager: 'two' });
    expect(scenario.owners).toEqual({ one: { 'f:data': { 'f:a': {} } }, two: { 'f:data': { 'f:a': {} } } });
    scenario.apply({}, { manager: 'one' });
    expect(scenario.get('data')).toEqual({ a: '1' });
    scenario.apply({}, { manager: 'two' });
    expect(scenario.get('data')).toBeUndefined();
    expect(scenario.entries).toEqual([]);
  });

  it('API-214 what is applied no more is removed, a field set by others stays', () => {
    const scenario = configMap()
      .apply({ data: { a: '1', b: '1' } }, { manager: 'one' })
      .update((object) => ({ ...object, data: { ...(object['data'] as object), c: '1' } }), { manager: 'edit' })
      .apply({ data: { a: '1' } }, { manager: 'one' });
    expect(scenario.get('data')).toEqual({ a: '1', c: '1' });
    scenario.apply({}, { manager: 'one' });
    expect(scenario.get('data')).toEqual({ c: '1' });
  });

  it('API-214 metadata stays when the last thing said in it goes', () => {
    const scenario = configMap()
      .apply({ metadata: { name: 'x', labels: { a: '1' } } }, { manager: 'one' })
      .apply({}, { manager: 'one' });
    expect(scenario.get('metadata')).toEqual({ name: 'x', uid: 'u' });
  });

  it('API-214 a default comes back where an applied value goes', () => {
    const scenario = deployment()
      .apply(web({ replicas: 3 }), { manager: 'a' })
      .apply(web({}), { manager: 'a' });
    expect(scenario.get('spec', 'replicas')).toBe(1);
  });

  it('API-214 API-217 a value somebody else changed by an update belongs to that manager, and stays', () => {
    const scenario = deployment()
      .apply(web({ replicas: 3 }), { manager: 'a' })
      .update((object) => ({ ...object, spec: { ...(object['spec'] as object), replicas: 5 } }), { manager: 'hpa' });
    expect(scenario.owners['hpa (Update)']).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(refusal(() => scenario.apply(web({ replicas: 3 }), { manager: 'a' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "hpa" using apps/v1: .spec.replicas',
    );
    expect(scenario.apply(web({}), { manager: 'a' }).get('spec', 'replicas')).toBe(5);
  });

  describe('API-222 lists', () => {
    it('are merged by their keys if their type is map, in the order of the configuration', () => {
      const container = (...names: string[]): object =>
        web({
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: names.map((name) => ({ name, image: name })) },
          },
        });
      const scenario = deployment()
        .apply(container('a', 'b'), { manager: 'one' })
        .apply(container('side'), { manager: 'two' });
      expect(containers(scenario).map(({ name }) => name)).toEqual(['a', 'b', 'side']);
      scenario.apply(container('b', 'a'), { manager: 'one' });
      expect(containers(scenario).map(({ name }) => name)).toEqual(['b', 'side', 'a']);
      scenario.apply(container('a'), { manager: 'one' });
      expect(containers(scenario).map(({ name }) => name)).toEqual(['side', 'a']);
    });

    it('an element of which only a field was applied stays with its other owner', () => {
      const env = (...values: object[]): object => web({}, { env: values });
      const scenario = deployment()
        .apply(env({ name: 'A', value: '1' }), { manager: 'one' })
        .apply(
          { spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'B', value: '2' }] }] } } } },
          { manager: 'two' },
        );
      expect(containers(scenario)[0]?.['env']).toEqual([
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ]);
      scenario.apply({}, { manager: 'two' });
      expect(containers(scenario)[0]).toMatchObject({
        name: 'web',
        image: 'nginx:1',
        env: [{ name: 'A', value: '1' }],
      });
    });

    it('ports of the same number differ by protocol, TCP if none is said', () => {
      const ports = (...values: object[]): object => ({ spec: { ports: values } });
      const scenario = new ApplyScenario('v1', 'Service')
        .apply(ports({ port: 53, name: 'tcp' }), { manager: 'one' })
        .apply(ports({ port: 53, protocol: 'UDP', name: 'udp' }), { manager: 'two' })
        .apply(ports({ port: 53, protocol: 'TCP', targetPort: 5353 }), { manager: 'three', force: true });
      expect(scenario.get('spec', 'ports')).toEqual([
        { name: 'tcp', protocol: 'TCP', port: 53, targetPort: 5353 },
        { name: 'udp', protocol: 'UDP', port: 53, targetPort: 53 },
      ]);
      expect(Object.keys(scenario.owners['three'] as object)).toEqual(['f:spec']);
    });

    it('are united if their type is set', () => {
      const finalizers = (...names: string[]): object => ({ metadata: { name: 'x', finalizers: names } });
      const scenario = configMap()
        .apply(finalizers('example.com/a'), { manager: 'one' })
        .apply(finalizers('example.com/b', 'example.com/a'), { manager: 'two' });
      expect(scenario.get('metadata', 'finalizers')).toEqual(['example.com/b', 'example.com/a']);
      expect(scenario.owners['one']).toEqual({ 'f:metadata': { 'f:finalizers': { 'v:"example.com/a"': {} } } });
      scenario.apply(finalizers('example.com/a'), { manager: 'two' });
      expect(scenario.get('metadata', 'finalizers')).toEqual(['example.com/a']);
    });

    it('that are atomic belong to one manager as a whole', () => {
      const args = (...values: string[]): object => web({}, { args: values });
      const scenario = deployment().apply(args('a', 'b'), { manager: 'one' });
      expect(refusal(() => scenario.apply(args('a'), { manager: 'two' })).message).toBe(
        'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="web"].args',
      );
      scenario.apply(args('c'), { manager: 'two', force: true });
      expect(containers(scenario)[0]?.['args']).toEqual(['c']);
    });

    it('owner references are distinguished by uid, each one thing', () => {
      const owner = (uid: string, name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid });
      const scenario = configMap()
        .apply({ metadata: { name: 'x', ownerReferences: [owner('1', 'a')] } }, { manager: 'one' })
        .apply({ metadata: { name: 'x', ownerReferences: [owner('2', 'b')] } }, { manager: 'two' });
      expect(scenario.get('metadata', 'ownerReferences')).toEqual([owner('1', 'a'), owner('2', 'b')]);
      expect(scenario.owners['two']).toEqual({ 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"2"}': {} } } });
      scenario.apply({}, { manager: 'one' });
      expect(scenario.get('metadata', 'ownerReferences')).toEqual([owner('2', 'b')]);
    });
  });

  describe('API-222 maps', () => {
    it('are granular: each label has its own managers', () => {
      const labels = (values: object): object => ({ metadata: { name: 'x', labels: values } });
      const scenario = configMap()
        .apply(labels({ a: '1' }), { manager: 'one' })
        .apply(labels({ b: '2' }), { manager: 'two' })
        .apply({}, { manager: 'one' });
      expect(scenario.get('metadata', 'labels')).toEqual({ b: '2' });
    });

    it('that are atomic belong to one manager: selectors', () => {
      const service = (selector: object): object => ({ spec: { ports: [{ port: 80 }], selector } });
      const scenario = new ApplyScenario('v1', 'Service').apply(service({ app: 'a' }), { manager: 'one' });
      expect(refusal(() => scenario.apply(service({ app: 'a', tier: 'b' }), { manager: 'two' })).message).toBe(
        'Apply failed with 1 conflict: conflict with "one": .spec.selector',
      );
      scenario.apply(service({ tier: 'b' }), { manager: 'one' });
      expect(scenario.get('spec', 'selector')).toEqual({ tier: 'b' });
    });

    it('an empty map is owned as such', () => {
      const scenario = new ApplyScenario('v1', 'Pod').apply(
        { spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', emptyDir: {} }] } },
        { manager: 'one' },
      );
      expect(scenario.owners['one']).toMatchObject({
        'f:spec': { 'f:volumes': { 'k:{"name":"v"}': { '.': {}, 'f:emptyDir': {}, 'f:name': {} } } },
      });
    });
  });

  it('API-217 before the first apply everything belongs to before-first-apply', () => {
    const scenario = configMap().update(
      () => ({ metadata: { name: 'x', labels: { a: '1' } }, data: { a: '1', b: '1' } }),
      {
        manager: 'creator',
      },
    );
    scenario.update((object) => ({ ...object, metadata: { ...object.metadata, managedFields: [] } }), { manager: 'c' });
    expect(scenario.entries).toEqual([]);
    expect(refusal(() => scenario.apply({ data: { a: '2' } }, { manager: 'one' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
    scenario.apply({ data: { a: '1' } }, { manager: 'one' });
    expect(scenario.owners).toEqual({
      one: { 'f:data': { 'f:a': {} } },
      'before-first-apply (Update)': {
        'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
      },
    });
  });

  it('API-218 API-210 status is not tracked through the object, and nothing but it through /status', () => {
    const scenario = deployment().apply({ ...web({}), status: { replicas: 1 } }, { manager: 'a' });
    expect(Object.keys(scenario.owners['a'] as object)).toEqual(['f:spec']);
    scenario.apply({ spec: { replicas: 9 }, status: { replicas: 2 } }, { manager: 'b', subresource: 'status' });
    expect(scenario.entries.find(({ manager }) => manager === 'b')).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
    });
  });

  it("API-218 names, versions and the like are nobody's", () => {
    const metadata = { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 3, labels: { a: 'b' } };
    const scenario = configMap().apply({ metadata }, { manager: 'a' });
    expect(scenario.owners).toEqual({ a: { 'f:metadata': { 'f:labels': { 'f:a': {} } } } });
  });

  it('API-220 API-077 an apply that changes nothing changes no time; a second manager of the same has none', () => {
    const scenario = configMap().apply({ data: { a: '1' } }, { manager: 'one' });
    const before = structuredClone(scenario.object);
    scenario.apply({ data: { a: '1' } }, { manager: 'one' });
    expect(scenario.object).toEqual(before);
    scenario.apply({ data: { a: '1' } }, { manager: 'two' });
    expect(scenario.entries.map(({ manager, time }) => [manager, time])).toEqual([
      ['two', undefined],
      ['one', '2026-11-21T12:00:01Z'],
    ]);
  });

  it('null takes back a scalar, and says nothing about a map', () => {
    const scenario = deployment().apply(web({ replicas: 3 }), { manager: 'a' });
    scenario.apply(web({ replicas: null }), { manager: 'a' });
    expect(scenario.get('spec', 'replicas')).toBe(1);
    scenario.apply({ metadata: { name: 'x', labels: { l: '1' } } }, { manager: 'b' });
    scenario.apply({ metadata: { name: 'x', labels: null } }, { manager: 'c' });
    expect(scenario.get('metadata', 'labels')).toEqual({ l: '1' });
  });

  describe('API-221 from client-side to server-side', () => {
    const annotated = (data: object): object => {
      const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { annotations: {}, name: 'x' }, data };
      return {
        metadata: {
          name: 'x',
          annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(last)}\n` },
        },
        data,
      };
    };

    it('kubectl takes over what client-side apply said and nobody changed since', () => {
      const scenario = configMap().update(() => annotated({ a: '1', b: '1' }), {
        manager: 'kubectl-client-side-apply',
      });
      scenario.apply({ data: { a: '2', b: '1' } }, { manager: 'kubectl' });
      expect(scenario.get('data')).toEqual({ a: '2', b: '1' });
      const annotations = scenario.get('metadata', 'annotations') as Record<string, string>;
      expect(JSON.parse(annotations['kubectl.kubernetes.io/last-applied-configuration'] ?? '')).toEqual({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'x' },
        data: { a: '2', b: '1' },
      });
    });

    it('but not what somebody has changed, and nobody but kubectl takes anything', () => {
      const scenario = configMap()
        .update(() => annotated({ a: '1', b: '1' }), { manager: 'kubectl-client-side-apply' })
        .update((object) => ({ ...object, data: { ...(object['data'] as object), b: '7' } }), { manager: 'edit' });
      const changed = { data: { a: '2', b: '2' } };
      expect(refusal(() => scenario.apply(changed, { manager: 'kubectl' })).message).toBe(
        'Apply failed with 1 conflict: conflict with "edit" using v1: .data.b',
      );
      expect(refusal(() => scenario.apply(changed, { manager: 'argocd' })).details.causes).toHaveLength(2);
    });
  });

  it.each([
    [{ spec: { nonsense: 1 } }, '.spec.nonsense: field not declared in schema'],
    [{ metadata: { labels: { a: 5 } } }, '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:5}'],
    [
      { metadata: { labels: { a: { c: [true, 'x'], b: 1.5 } } } },
      '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":1.5, "c":[]interface {}{true, "x"}}}',
    ],
    [{ spec: { replicas: 'three' } }, '.spec.replicas: expected numeric (int or float), got string'],
    [
      { spec: { paused: 1, selector: [] } },
      /^errors:\n {2}\.spec\.paused: expected boolean, got .*\n {2}\.spec\.selector: expected map, got/,
    ],
    [
      { spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } } },
      '.spec.template.spec.containers: duplicate entries for key [name="a"]',
    ],
    [{ metadata: { finalizers: [{}] } }, /^\.metadata\.finalizers: element 0: .*map type$/],
    [{ metadata: { labls: {} } }, '.metadata.labls: field not declared in schema'],
  ])('API-223 %j is refused', (fields, message) => {
    const error = refusal(() => deployment().apply(fields, { manager: 'a' })) as unknown;
    expect(error).toBeInstanceOf(TypedValueError);
    expect((error as Error).message).toMatch(message);
  });
});
