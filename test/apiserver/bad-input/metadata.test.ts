import { describe } from 'vitest';
import { configMap, configMaps } from '../../../src/apiserver/test/test-server.ts';
import {
  type BadRequest,
  BadInputServer,
  JSON_TYPE,
  post,
  refusal,
  startingWith,
  widgets,
  WITNESS,
} from './refusal.ts';

const { refuses } = new BadInputServer();

describe('metadata', () => {
  const withMeta = (metadata: object): BadRequest => post(configMap('x', { metadata }));
  const invalid = (text: string): string => `ConfigMap "x" is invalid: ${text}`;
  const qualified = "must consist of alphanumeric characters, '-', '_' or '.'";

  refuses('API-066 labels and annotations', [
    [
      'key',
      withMeta({ labels: { 'a b': 'c' } }),
      refusal(422, startingWith(invalid(`metadata.labels: Invalid value: "a b": name part ${qualified}`))),
    ],
    [
      'empty key',
      withMeta({ labels: { '': 'c' } }),
      refusal(422, /metadata\.labels: Invalid value: "": name part must be non-empty/),
    ],
    [
      '__proto__',
      { ...post('{"metadata":{"name":"x","labels":{"__proto__":"y"}}}', JSON_TYPE) },
      refusal(422, startingWith(invalid('metadata.labels: Invalid value: "__proto__"'))),
    ],
    [
      'prefix',
      withMeta({ labels: { 'A_/b': 'c' } }),
      refusal(
        422,
        startingWith(invalid('metadata.labels: Invalid value: "A_/b": prefix part a lowercase RFC 1123 subdomain')),
      ),
    ],
    [
      'empty prefix',
      withMeta({ labels: { '/b': 'c' } }),
      refusal(422, startingWith(invalid('metadata.labels: Invalid value: "/b": prefix part must be non-empty'))),
    ],
    [
      'two slashes',
      withMeta({ labels: { 'a/b/c': 'd' } }),
      refusal(422, startingWith(invalid('metadata.labels: Invalid value: "a/b/c": a valid label key must consist of'))),
    ],
    ['long key', withMeta({ labels: { ['a'.repeat(64)]: 'c' } }), refusal(422, /name part must be no more than 63/)],
    [
      'value',
      withMeta({ labels: { a: 'b c' } }),
      refusal(
        422,
        startingWith(
          invalid(
            'metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric',
          ),
        ),
      ),
    ],
    [
      'long value',
      withMeta({ labels: { a: 'b'.repeat(64) } }),
      refusal(422, /metadata\.labels: Invalid value: .*: must be no more than 63/),
    ],
    [
      'annotation key',
      withMeta({ annotations: { 'a b': 'c' } }),
      refusal(422, startingWith(invalid(`metadata.annotations: Invalid value: "a b": name part ${qualified}`))),
    ],
    [
      'annotations too long',
      withMeta({ annotations: { a: 'b'.repeat(262_144) } }),
      refusal(422, invalid('metadata.annotations: Too long: may not be more than 262144 bytes')),
    ],
  ]);

  refuses('API-071 finalizers', [
    [
      'unknown',
      withMeta({ finalizers: ['x'] }),
      refusal(
        422,
        invalid(
          'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
        ),
      ),
    ],
    [
      'malformed',
      withMeta({ finalizers: ['example.com/x y'] }),
      refusal(
        422,
        startingWith(invalid(`metadata.finalizers: Invalid value: "example.com/x y": name part ${qualified}`)),
      ),
    ],
    [
      'empty',
      withMeta({ finalizers: [''] }),
      refusal(422, /metadata\.finalizers: Invalid value: "": name part must be non-empty/),
    ],
    [
      'both of the collector',
      withMeta({ finalizers: ['orphan', 'foregroundDeletion'] }),
      refusal(
        422,
        /metadata\.finalizers: Invalid value: .*: finalizer orphan and foregroundDeletion cannot be both set/,
      ),
    ],
  ]);

  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const without = (field: keyof typeof owner): object => ({ ...owner, [field]: undefined });
  const owners = (...ownerReferences: object[]): BadRequest => withMeta({ ownerReferences });
  refuses('API-067 API-068 owners', [
    [
      'no uid',
      owners(without('uid')),
      refusal(422, invalid('metadata.ownerReferences.uid: Invalid value: "": must not be empty')),
    ],
    [
      'no name',
      owners(without('name')),
      refusal(422, invalid('metadata.ownerReferences.name: Invalid value: "": must not be empty')),
    ],
    [
      'no kind',
      owners(without('kind')),
      refusal(422, invalid('metadata.ownerReferences.kind: Invalid value: "": must not be empty')),
    ],
    [
      'no apiVersion',
      owners(without('apiVersion')),
      refusal(422, invalid('metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty')),
    ],
    [
      'null',
      { ...post('{"metadata":{"name":"x","ownerReferences":[null]}}', JSON_TYPE) },
      refusal(
        422,
        startingWith(
          `ConfigMap "x" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty, metadata.ownerReferences.kind: `,
        ),
      ),
    ],
    [
      'an event',
      owners({ ...owner, kind: 'Event' }),
      refusal(422, /metadata\.ownerReferences: Invalid value: .*: \/v1, Kind=Event is disallowed from being an owner/),
    ],
    [
      'two controllers',
      owners({ ...owner, controller: true }, { ...owner, name: 'q', uid: 'v', controller: true }),
      refusal(
        422,
        /metadata\.ownerReferences: Invalid value: .*: Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/o and ConfigMap\/q/,
      ),
    ],
    [
      'six thousand controllers',
      owners(...Array.from({ length: 6000 }, (_, n) => ({ ...owner, uid: `u-${n}`, controller: true }))),
      refusal(
        422,
        /^ConfigMap "x" is invalid: \[metadata\.ownerReferences: Invalid value: .{400000,1800000}, and \d more\]$/,
      ),
    ],
    [
      'in a PUT',
      {
        method: 'PUT',
        target: WITNESS,
        body: configMap('witness', { metadata: { ownerReferences: [without('uid') as never] } }),
      },
      refusal(
        422,
        'ConfigMap "witness" is invalid: metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ),
    ],
  ]);

  refuses('API-060 API-171 resource versions', [
    [
      'in a POST',
      withMeta({ resourceVersion: '5' }),
      refusal(500, 'resourceVersion should not be set on objects to be created'),
    ],
    [
      'another one in a PUT',
      { method: 'PUT', target: WITNESS, body: configMap('witness', { metadata: { resourceVersion: '1' } }) },
      refusal(
        409,
        'Operation cannot be fulfilled on configmaps "witness": the object has been modified; please apply your changes to the latest version and try again',
      ),
    ],
    [
      'none where one is needed',
      {
        method: 'PUT',
        target: `${widgets}/w`,
        body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
      },
      refusal(
        422,
        'widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ),
    ],
  ]);

  refuses('API-171 a resourceVersion that is no number', [
    [
      'PUT',
      { method: 'PUT', target: WITNESS, body: configMap('witness', { metadata: { resourceVersion: 'x' } }) },
      refusal(500, 'strconv.ParseUint: parsing "x": invalid syntax'),
    ],
  ]);

  refuses('API-174 another uid', [
    [
      'PUT',
      { method: 'PUT', target: WITNESS, body: configMap('witness', { metadata: { uid: 'x' } }) },
      refusal(409, /Precondition failed: UID in precondition: x, UID in object meta: [0-9a-f-]{36}$/),
    ],
  ]);

  refuses('API-078 fieldManager', [
    [
      'long',
      { target: `${configMaps}?fieldManager=${'m'.repeat(129)}`, body: configMap('x') },
      refusal(
        422,
        /^CreateOptions\.meta\.k8s\.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes$/,
      ),
    ],
    [
      'unprintable',
      { target: `${configMaps}?fieldManager=%07`, body: configMap('x') },
      refusal(422, /fieldManager: Invalid value: "\\a": invalid character U\+0007 \(at position 0\)$/),
    ],
    [
      'long and unprintable',
      { target: `${configMaps}?fieldManager=${'%01'.repeat(40_000)}`, body: configMap('x') },
      refusal(422, 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes'),
    ],
    [
      'long and unprintable, in the body',
      withMeta({
        managedFields: [
          {
            manager: '\u0001'.repeat(40_000),
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { 'f:k': {} } },
          },
        ],
      }),
      refusal(422, invalid('metadata.managedFields[0].manager: Too long: may not be more than 128 bytes')),
    ],
  ]);
});
