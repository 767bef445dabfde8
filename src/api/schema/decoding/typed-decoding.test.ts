import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { copyJson } from '../../codec/json/json-value.ts';
import { typeNames } from '../../kinds/type-table.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { StatusError } from '../../status-error.ts';
import { decodeMetadata, decodeTyped } from './typed-decoding.ts';

const DEPLOYMENT = 'api/apps/v1.Deployment';
const POD = 'api/core/v1.Pod';
const CONFIG_MAP = 'api/core/v1.ConfigMap';
const SECRET = 'api/core/v1.Secret';
const CRD = 'apiextensions-apiserver/pkg/apis/apiextensions/v1.CustomResourceDefinition';

const decode = (object: unknown, typeName: string): KubeObject => decodeTyped(object as KubeObject, typeName).object;

function failure(object: unknown, typeName: string): string {
  try {
    decode(object, typeName);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  throw new Error('the object was accepted');
}

describe('unknown fields', () => {
  it('API-231 are dropped and reported with their path, in document order', () => {
    const { object, unknownFields } = decodeTyped(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd', colour: 'red', labels: { any: 'key' } },
        spec: {
          template: {
            spec: { containers: [{ name: 'a' }, { name: 'b', x: 1, resources: { limits: { 'any/thing': '1' } } }] },
          },
          replcas: 2,
        },
        extra: {},
      } as KubeObject,
      DEPLOYMENT,
    );
    expect(unknownFields).toEqual(['metadata.colour', 'spec.template.spec.containers[1].x', 'spec.replcas', 'extra']);
    expect(JSON.stringify(object)).not.toMatch(/colour|replcas|extra|"x"/);
    expect(decodeTyped(object, DEPLOYMENT).unknownFields).toEqual([]);
  });

  it('API-233 names match case-sensitively', () => {
    expect(decodeTyped({ Data: { a: 'b' }, data: { c: 'd' } } as KubeObject, CONFIG_MAP)).toEqual({
      object: { metadata: {}, data: { c: 'd' } },
      unknownFields: ['Data'],
    });
  });

  it('API-231 keys of maps, free JSON and the empty key', () => {
    const unknown = (object: unknown, typeName: string): string[] =>
      decodeTyped(object as KubeObject, typeName).unknownFields;
    expect(unknown({ data: { anything: 'x' } }, CONFIG_MAP)).toEqual([]);
    expect(unknown({ data: { any: { thing: [1] } } }, 'api/apps/v1.ControllerRevision')).toEqual([]);
    expect(unknown({ '': 1 }, CONFIG_MAP)).toEqual(['']);
    expect(unknown(JSON.parse('{"__proto__":{"data":{}}}'), CONFIG_MAP)).toEqual(['__proto__']);
    const schema = {
      properties: { a: { typ: 'x' } },
      items: { typo: 1 },
      additionalProperties: { tipo: 2 },
      default: { any: 1 },
    };
    expect(unknown({ spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } }, CRD)).toEqual([
      'spec.versions[0].schema.openAPIV3Schema.properties.a.typ',
      'spec.versions[0].schema.openAPIV3Schema.items.typo',
      'spec.versions[0].schema.openAPIV3Schema.additionalProperties.tipo',
    ]);
  });
});

describe('what Go would print', () => {
  it('API-521 fields without omitempty are there with their zero value', () => {
    expect(decode({ kind: 'Deployment', apiVersion: 'apps/v1' }, DEPLOYMENT)).toEqual({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: {},
      spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    });
    expect(decode({ status: {} }, 'api/apps/v1.ReplicaSet')).toMatchObject({ status: { replicas: 0 } });
    expect(decode({ spec: { containers: [{}] } }, POD)).toMatchObject({
      spec: { containers: [{ name: '', resources: {} }] },
    });
    expect(decode({ status: { conditions: [{ type: 'Ready' }] } }, POD)).toMatchObject({
      status: { conditions: [{ type: 'Ready', status: '', lastProbeTime: null, lastTransitionTime: null }] },
    });
  });

  it('API-521 metadata.creationTimestamp is left out when unset, here and in templates', () => {
    const text = JSON.stringify(
      decode(
        { metadata: { creationTimestamp: null }, spec: { template: { metadata: { creationTimestamp: null } } } },
        DEPLOYMENT,
      ),
    );
    expect(text).not.toContain('creationTimestamp');
  });

  it('zero values of optional fields and empty containers go, pointers stay', () => {
    expect(
      decode(
        {
          metadata: { name: '', generation: 0, labels: {}, finalizers: [], deletionGracePeriodSeconds: 0 },
          spec: {
            replicas: 0,
            paused: false,
            minReadySeconds: 0,
            selector: {},
            template: { spec: { securityContext: {}, containers: [] } },
          },
        },
        DEPLOYMENT,
      ),
    ).toEqual({
      metadata: { deletionGracePeriodSeconds: 0 },
      spec: {
        replicas: 0,
        selector: {},
        template: { metadata: {}, spec: { containers: [], securityContext: {} } },
        strategy: {},
      },
      status: {},
    });
  });

  it('null is the same as absent; in lists and maps it is the zero value', () => {
    expect(
      decode(
        { metadata: { labels: { a: null }, ownerReferences: null, finalizers: [null] }, data: null, immutable: null },
        CONFIG_MAP,
      ),
    ).toEqual({ metadata: { labels: { a: '' }, finalizers: [''] } });
    expect(decode({ spec: { containers: [null] } }, POD)).toMatchObject({ spec: { containers: [{ name: '' }] } });
    expect(decode({ data: { a: null } }, SECRET)).toEqual({ metadata: {}, data: { a: '' } });
    expect(decode({ spec: { hard: { pods: null } } }, 'api/core/v1.ResourceQuota')).toMatchObject({
      spec: { hard: { pods: '0' } },
    });
  });

  it('fields stand in the order of the declaration, kind and apiVersion first', () => {
    const object = decode(
      { data: { a: 'b' }, metadata: { uid: 'u', name: 'n' }, apiVersion: 'v1', kind: 'ConfigMap' },
      CONFIG_MAP,
    );
    expect(JSON.stringify(object)).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u"},"data":{"a":"b"}}',
    );
  });

  it('keys of maps may have any name', () => {
    const data = JSON.parse('{"data":{"__proto__":"1","constructor":"2"}}') as unknown;
    expect(JSON.stringify(decode(data, CONFIG_MAP))).toBe('{"metadata":{},"data":{"__proto__":"1","constructor":"2"}}');
  });
});

describe('leaf types', () => {
  const creationTimestamp = (text: string): unknown =>
    decode({ metadata: { creationTimestamp: text } }, POD).metadata?.creationTimestamp;

  it.each([
    ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00Z'],
    ['2026-11-21T12:00:00.999Z', '2026-11-21T12:00:00Z'],
    ['2026-11-21T12:00:00+02:00', '2026-11-21T10:00:00Z'],
  ])('a Time %s is %s', (text, expected) => {
    expect(creationTimestamp(text)).toBe(expected);
  });

  it.each([
    ['2026-11-21T12:00:00.123456Z', '2026-11-21T12:00:00.123456Z'],
    ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00.000000Z'],
    ['2026-11-21T14:00:00.5+02:00', '2026-11-21T12:00:00.500000Z'],
    ['2026-11-21T12:00:00.123456789Z', '2026-11-21T12:00:00.123456Z'],
  ])('a MicroTime %s is %s', (text, expected) => {
    const lease = decode({ spec: { renewTime: text } }, 'api/coordination/v1.Lease') as { spec: { renewTime: string } };
    expect(lease.spec.renewTime).toBe(expected);
  });

  it('quantities have their canonical spelling, numbers are accepted', () => {
    const limits = { cpu: '1000m', memory: '1.5Gi', small: 0.5, big: 3 };
    expect(decode({ spec: { containers: [{ resources: { limits } }] } }, POD)).toMatchObject({
      spec: { containers: [{ resources: { limits: { cpu: '1', memory: '1536Mi', small: '500m', big: '3' } } }] },
    });
  });

  it('IntOrString keeps its kind', () => {
    const spec = { ports: [{ port: 1, targetPort: 'http' }, { port: 2, targetPort: 8080 }, { port: 3 }] };
    expect(decode({ spec }, 'api/core/v1.Service')).toMatchObject({
      spec: { ports: [{ targetPort: 'http' }, { targetPort: 8080 }, { targetPort: 0 }] },
    });
  });

  it('base64 has its canonical form', () => {
    expect(decode({ data: { a: 'YQ==', b: 'YR==', c: 'Y\nQ==\n' } }, SECRET)['data']).toEqual({
      a: 'YQ==',
      b: 'YQ==',
      c: 'YQ==',
    });
  });

  it('variants of schemas', () => {
    const variants = (schema: unknown): unknown =>
      (
        decode({ spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } }, CRD) as never as {
          spec: { versions: [{ schema: { openAPIV3Schema: unknown } }] };
        }
      ).spec.versions[0].schema.openAPIV3Schema;
    for (const schema of [
      { additionalProperties: true },
      { additionalProperties: { type: 'string' } },
      { items: { type: 'string' } },
      { items: [{ type: 'string' }, { type: 'integer' }] },
      { dependencies: { a: ['b'], c: { type: 'object' } } },
      { enum: ['a', null, 1], default: { a: [null] }, example: 0 },
      { minimum: 0, 'x-kubernetes-preserve-unknown-fields': false },
    ]) {
      expect(variants(schema)).toEqual(schema);
    }
  });
});

describe('wrong types', () => {
  it.each<[string, unknown, string, string]>([
    [
      'bool for string',
      { data: { a: true } },
      CONFIG_MAP,
      'json: cannot unmarshal bool into Go struct field ConfigMap.data of type string',
    ],
    [
      'number for string',
      { data: { a: 12 } },
      CONFIG_MAP,
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'list for map',
      { data: [] },
      CONFIG_MAP,
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'string for int',
      { spec: { replicas: '1' } },
      DEPLOYMENT,
      'json: cannot unmarshal string into Go struct field Deployment.spec.replicas of type int32',
    ],
    [
      'fraction for int',
      { spec: { replicas: 1.5 } },
      DEPLOYMENT,
      'json: cannot unmarshal number 1.5 into Go struct field Deployment.spec.replicas of type int32',
    ],
    [
      'too big an int32',
      { spec: { replicas: 2147483648 } },
      DEPLOYMENT,
      'json: cannot unmarshal number 2147483648 into Go struct field Deployment.spec.replicas of type int32',
    ],
    [
      'too big an int64',
      { metadata: { generation: 1e30 } },
      DEPLOYMENT,
      'json: cannot unmarshal number 1e+30 into Go struct field Deployment.metadata.generation of type int64',
    ],
    [
      'object for bool',
      { spec: { paused: {} } },
      DEPLOYMENT,
      'json: cannot unmarshal object into Go struct field Deployment.spec.paused of type bool',
    ],
    [
      'string for struct',
      { spec: { template: 'x' } },
      DEPLOYMENT,
      'json: cannot unmarshal string into Go struct field Deployment.spec.template of type v1.PodTemplateSpec',
    ],
    [
      'object for list',
      { spec: { containers: {} } },
      POD,
      'json: cannot unmarshal object into Go struct field Pod.spec.containers of type []v1.Container',
    ],
    [
      'deep in lists',
      { spec: { containers: [{}, { env: [{ value: 1 }] }] } },
      POD,
      'json: cannot unmarshal number into Go struct field Pod.spec.containers.env.value of type string',
    ],
    [
      'bool for IntOrString',
      { spec: { ports: [{ targetPort: true }] } },
      'api/core/v1.Service',
      'json: cannot unmarshal bool into Go struct field Service.spec.ports.targetPort of type int32',
    ],
    ['bad base64', { data: { a: 'Y!==' } }, SECRET, 'illegal base64 data at input byte 1'],
    ['short base64', { data: { a: 'YWJjZ' } }, SECRET, 'illegal base64 data at input byte 4'],
    ['bad time', { metadata: { creationTimestamp: 'yesterday' } }, POD, 'parsing time "yesterday"'],
    [
      'bad quantity',
      { spec: { containers: [{ resources: { limits: { cpu: '1x' } } }] } },
      POD,
      'quantities must match the regular expression',
    ],
  ])('API-233 %s', (_, object, typeName, text) => {
    const kind = typeName.slice(typeName.lastIndexOf('.') + 1);
    expect(failure(object, typeName)).toContain(`${kind} in version "v1" cannot be handled as a ${kind}: ${text}`);
  });
});

describe('metadata of custom resources', () => {
  const widget = { kind: 'Widget', version: 'v1' };

  it('API-234 unknown fields are dropped and reported, the rest is as in built-in kinds', () => {
    expect(
      decodeMetadata(
        { name: 'w', labls: {}, creationTimestamp: null, ownerReferences: [{ uid: 'u', colour: 1 }] },
        widget,
      ),
    ).toEqual({
      metadata: { name: 'w', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: 'u' }] },
      unknownFields: ['labls', 'ownerReferences[0].colour'],
    });
    expect(decodeMetadata(undefined, widget)).toEqual({ metadata: {}, unknownFields: [] });
  });

  it.each([
    [{ labels: { a: 1 } }, 'json: cannot unmarshal number into Go struct field Widget.metadata.labels of type string'],
    ['x', 'json: cannot unmarshal string into Go struct field Widget.metadata of type v1.ObjectMeta'],
  ])('API-233 %j is 400', (metadata, text) => {
    expect(() => decodeMetadata(metadata, widget)).toThrow(
      `Widget in version "v1" cannot be handled as a Widget: ${text}`,
    );
  });
});

describe('decoding as a whole', () => {
  it('shares nothing with its input and does not change it', () => {
    const input = { metadata: { labels: { a: 'b' }, managedFields: [{ fieldsV1: { 'f:a': {} } }] }, data: { a: 'b' } };
    const before = copyJson(input);
    const output = decode(input, CONFIG_MAP) as typeof input;
    output.metadata.labels.a = 'x';
    output.data.a = 'x';
    for (const entry of output.metadata.managedFields) Object.assign(entry.fieldsV1['f:a'], { x: 1 });
    expect(input).toEqual(before);
  });

  it('API-501 decoding what was decoded changes nothing, for every type', () => {
    for (const typeName of typeNames()) {
      const once = decode({}, typeName);
      expect(decode(once, typeName), typeName).toEqual(once);
    }
  });

  it('decodes any JSON or refuses it with 400', () => {
    const keys = fc.constantFrom(
      'metadata',
      'spec',
      'containers',
      'labels',
      'name',
      'status',
      'conditions',
      'replicas',
      'template',
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    const object = fc.dictionary(keys, value, { maxKeys: 4, noNullPrototype: true });
    fc.assert(
      fc.property(object, fc.constantFrom(POD, DEPLOYMENT, CONFIG_MAP), (input, typeName) => {
        let once: KubeObject;
        try {
          once = decode(input, typeName);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
          return;
        }
        expect(decode(once, typeName)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });
});
