import { describe } from 'vitest';
import { configMap } from '../../../src/apiserver/test/test-server.ts';
import { BadInputServer, ns, post, refusal, type Row, WITNESS } from './refusal.ts';

const { refuses } = new BadInputServer();

describe('names', () => {
  refuses('API-064 API-170 another name or namespace than the path’s', [
    [
      'namespace, POST',
      post({ metadata: { name: 'x', namespace: 'kube-system' } }),
      refusal(400, 'the namespace of the provided object does not match the namespace sent on the request'),
    ],
    [
      'namespace, PUT',
      { method: 'PUT', target: WITNESS, body: configMap('witness', { metadata: { namespace: 'kube-system' } }) },
      refusal(400, 'the namespace of the provided object does not match the namespace sent on the request'),
    ],
    [
      'name, PUT',
      { method: 'PUT', target: WITNESS, body: configMap('other') },
      refusal(400, 'the name of the object (other) does not match the name on the URL (witness)'),
    ],
    [
      'no name, PUT',
      { method: 'PUT', target: WITNESS, body: {} },
      refusal(400, 'the name of the object (witness based on URL) was undeterminable: name must be provided'),
    ],
    [
      'no name, POST',
      post({ data: {} }),
      refusal(422, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'),
    ],
    [
      'API-154 a namespace that is not',
      { target: '/api/v1/namespaces/nosuch/configmaps', body: configMap('x') },
      refusal(404, 'namespaces "nosuch" not found'),
    ],
  ]);

  const subdomain = /metadata\.name: Invalid value: .*: a lowercase RFC 1123 subdomain must consist of/;
  refuses('API-063 subdomains', [
    ...['UPPER', 'a_b', '-a', 'a-', 'a..b', '.', '..', 'a/b', 'a%b', 'ä', 'a b', '\u0000', ' ', '$patch'].map(
      (name): Row => [JSON.stringify(name), post(configMap(name)), refusal(422, subdomain)],
    ),
    [
      '254 bytes',
      post(configMap('a'.repeat(254))),
      refusal(422, /metadata\.name: Invalid value: .*: must be no more than 253 characters/),
    ],
    ['a million', post(configMap('a'.repeat(1_000_000))), refusal(422, /must be no more than 253 characters/)],
  ]);
  refuses('API-063 labels', [
    ...['UPPER', '-a', 'ä'].map((name): Row => [
      name,
      { target: '/api/v1/namespaces', body: { metadata: { name } } },
      refusal(422, /metadata\.name: Invalid value: .*: a lowercase RFC 1123 label must consist of/),
    ]),
    [
      'a.b',
      { target: '/api/v1/namespaces', body: { metadata: { name: 'a.b' } } },
      refusal(422, 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots'),
    ],
    [
      '64 bytes',
      { target: '/api/v1/namespaces', body: { metadata: { name: 'a'.repeat(64) } } },
      refusal(422, /metadata\.name: Invalid value: .*: must be no more than 63 characters/),
    ],
    [
      'a service',
      { target: `${ns}/services`, body: { metadata: { name: 'a.b' }, spec: { ports: [{ port: 1 }] } } },
      refusal(422, 'Service "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots'),
    ],
  ]);
  refuses(
    'API-063 path segments',
    (
      [
        ['.', "may not be '.'"],
        ['..', "may not be '..'"],
        ['a/b', "may not contain '/'"],
        ['a%b', "may not contain '%'"],
      ] as const
    ).map(([name, why]): Row => [
      name,
      { target: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', body: { metadata: { name } } },
      refusal(
        422,
        `Role.rbac.authorization.k8s.io "${name}" is invalid: metadata.name: Invalid value: "${name}": ${why}`,
      ),
    ]),
  );
  refuses('API-061 a base of a generated name', [
    ['wrong', post({ metadata: { generateName: 'A_' } }), refusal(422, /metadata\.generateName: Invalid value: "A_"/)],
  ]);
});
