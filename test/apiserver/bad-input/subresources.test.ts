import { describe } from 'vitest';
import { type BadRequest, BadInputServer, deployments, ns, refusal, type Row } from './refusal.ts';

const { refuses } = new BadInputServer();

const merge = (target: string, body: unknown): BadRequest => ({
  method: 'PATCH',
  target,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/merge-patch+json' },
});
const put = (target: string, body: unknown): BadRequest => ({ method: 'PUT', target, body });

describe('API-331 scale', () => {
  const target = `${deployments}/d/scale`;
  const scale = (spec: unknown, metadata: object = { name: 'd' }): object => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata,
    spec,
  });
  refuses('bodies', [
    ['empty', put(target, ''), refusal(400, /json parse error: unexpected end of JSON input \(<empty>\)$/)],
    [
      'another kind',
      put(target, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }),
      refusal(400, 'the object provided is unrecognized (must be of type Scale): apps/v1, Kind=Deployment'),
    ],
    [
      'another name',
      put(target, scale({ replicas: 1 }, { name: 'e' })),
      refusal(400, 'the name of the object (e) does not match the name on the URL (d)'),
    ],
    [
      'text',
      put(target, scale({ replicas: 'x' })),
      refusal(400, /cannot unmarshal string into Go struct field Scale\.spec\.replicas of type int32$/),
    ],
    [
      'below zero',
      put(target, scale({ replicas: -1 })),
      refusal(
        422,
        'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ),
    ],
    [
      'below zero, PATCH',
      merge(target, { spec: { replicas: -1 } }),
      refusal(
        422,
        'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ),
    ],
    [
      'out of range',
      merge(target, { spec: { replicas: 2 ** 31 } }),
      refusal(400, /cannot unmarshal number 2147483648 into Go struct field Scale\.spec\.replicas of type int32$/),
    ],
    [
      'another version',
      put(target, scale({ replicas: 1 }, { name: 'd', resourceVersion: '1' })),
      refusal(409, /the object has been modified/),
    ],
    [
      'another uid',
      put(target, scale({ replicas: 1 }, { name: 'd', uid: 'x' })),
      refusal(409, /Precondition failed: UID in precondition: x, UID in object meta: /),
    ],
    ['of nothing', merge(`${deployments}/nosuch/scale`, {}), refusal(404, 'deployments.apps "nosuch" not found')],
  ]);
});

describe('API-330 status', () => {
  const target = `${deployments}/d/status`;
  refuses('bodies', [
    [
      'text',
      merge(target, { status: 'x' }),
      refusal(400, /cannot unmarshal string into Go struct field Deployment\.status of type v1\.DeploymentStatus$/),
    ],
    [
      'a condition without type',
      merge(target, { status: { conditions: 'x' } }),
      refusal(
        400,
        /cannot unmarshal string into Go struct field Deployment\.status\.conditions of type \[\]v1\.DeploymentCondition$/,
      ),
    ],
    [
      'another name',
      put(target, { metadata: { name: 'e' } }),
      refusal(400, 'the name of the object (e) does not match the name on the URL (d)'),
    ],
    ['of nothing', merge(`${deployments}/nosuch/status`, {}), refusal(404, 'deployments.apps "nosuch" not found')],
    ['POST', { target, body: {} }, refusal(405, 'the server does not allow this method on the requested resource')],
  ]);
});

describe('API-316 API-317 binding and eviction', () => {
  const binding = (target: unknown, name = 'p'): object => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target,
  });
  const eviction = (extra: object, name = 'p'): object => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...extra,
  });
  const evict = `${ns}/pods/p/eviction`;
  const bind = `${ns}/pods/p/binding`;
  refuses('bodies', [
    [
      'binding, empty',
      { target: bind, body: '' },
      refusal(400, /json parse error: unexpected end of JSON input \(<empty>\)$/),
    ],
    [
      'binding, no node',
      { target: bind, body: binding({}) },
      refusal(422, 'Binding "p" is invalid: target.name: Required value'),
    ],
    [
      'binding, no node kind',
      { target: bind, body: binding({ kind: 'Pod', name: 'n' }) },
      refusal(
        422,
        'Binding "p" is invalid: target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      ),
    ],
    [
      'binding, another pod',
      { target: bind, body: binding({ name: 'n' }, 'q') },
      refusal(400, 'name in URL does not match name in Binding object'),
    ],
    [
      'binding, text',
      { target: bind, body: binding('n') },
      refusal(400, /cannot unmarshal string into Go struct field Binding\.target of type v1\.ObjectReference$/),
    ],
    [
      'binding of nothing',
      { target: `${ns}/pods/nosuch/binding`, body: binding({ name: 'n' }, 'nosuch') },
      refusal(404, 'pods "nosuch" not found'),
    ],
    [
      'binding, GET',
      { method: 'GET', target: bind },
      refusal(405, 'the server does not allow this method on the requested resource'),
    ],
    [
      'eviction, another pod',
      { target: evict, body: eviction({}, 'q') },
      refusal(400, 'name in URL does not match name in Eviction object'),
    ],
    [
      'eviction, another kind',
      { target: evict, body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } },
      refusal(400, 'the object provided is unrecognized (must be of type Eviction): /v1, Kind=Pod'),
    ],
    [
      'eviction, bad policy',
      { target: evict, body: eviction({ deleteOptions: { propagationPolicy: 'x' } }) },
      refusal(422, /propagationPolicy: Unsupported value: "x"/),
    ],
    [
      'eviction, text as options',
      { target: evict, body: eviction({ deleteOptions: 'x' }) },
      refusal(400, /cannot unmarshal string into Go struct field Eviction\.deleteOptions of type v1\.DeleteOptions$/),
    ],
    [
      'eviction, another uid',
      { target: evict, body: eviction({ deleteOptions: { preconditions: { uid: 'x' } } }) },
      refusal(409, /^Operation cannot be fulfilled on Pod "p": the UID in the precondition \(x\) does not match/),
    ],
    [
      'eviction, another version',
      { target: evict, body: eviction({ deleteOptions: { preconditions: { resourceVersion: '1' } } }) },
      refusal(
        409,
        /^Operation cannot be fulfilled on Pod "p": the ResourceVersion in the precondition \(1\) does not match/,
      ),
    ],
    [
      'eviction of nothing',
      { target: `${ns}/pods/nosuch/eviction`, body: eviction({}, 'nosuch') },
      refusal(404, 'pods "nosuch" not found'),
    ],
  ]);
});

describe('API-305 API-320 API-377 others', () => {
  const finalize = '/api/v1/namespaces/default/finalize';
  refuses('bodies', [
    [
      'finalize, another name',
      put(finalize, { metadata: { name: 'x' } }),
      refusal(400, 'the name of the object (x) does not match the name on the URL (default)'),
    ],
    [
      'finalize, text',
      put(finalize, { metadata: { name: 'default' }, spec: { finalizers: 'x' } }),
      refusal(400, /cannot unmarshal string into Go struct field Namespace\.spec\.finalizers of type \[\]string$/),
    ],
    [
      'finalize, an unknown finalizer',
      put(finalize, { metadata: { name: 'default' }, spec: { finalizers: ['x'] } }),
      refusal(
        422,
        'Namespace "default" is invalid: spec.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ),
    ],
    [
      'finalize of nothing',
      put('/api/v1/namespaces/nosuch/finalize', { metadata: { name: 'nosuch' } }),
      refusal(404, 'namespaces "nosuch" not found'),
    ],
    [
      'finalize, PATCH',
      merge(finalize, {}),
      refusal(405, 'the server does not allow this method on the requested resource'),
    ],
    ...['exec', 'attach'].map((name): Row => [
      `${name} without a host`,
      { target: `${ns}/pods/p/${name}` },
      refusal(400, 'pod p does not have a host assigned'),
    ]),
    ['log of nothing', { method: 'GET', target: `${ns}/pods/nosuch/log` }, refusal(404, 'pods "nosuch" not found')],
    [
      'token of nobody',
      { target: `${ns}/serviceaccounts/nosuch/token`, body: {} },
      refusal(404, 'serviceaccounts "nosuch" not found'),
    ],
    [
      'a review that is none',
      { target: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body: { spec: 'x' } },
      refusal(400, /cannot unmarshal string into Go struct field SelfSubjectAccessReview\.spec/),
    ],
    [
      'a review without a question',
      { target: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body: { spec: {} } },
      refusal(422, /resourceAttributes|exactly one of nonResourceAttributes or resourceAttributes/),
    ],
  ]);
});
