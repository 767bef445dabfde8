import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { caPem, serverCertPem } from '../../../client/http/tls.fixture.ts';
import type { Authenticator } from '../../authentication/authenticator.ts';
import { certificateRequest } from '../../authentication/certificate-request.fixture.ts';
import { type Answer, startTestServer, type TestServer } from '../../test/test-server.ts';

const byHeader: Authenticator = {
  authenticate: ({ headers }) => ({
    username: String(headers['x-user']),
    groups: ['system:masters'],
    ...(headers['x-user'] === 'full' ? { uid: 'u-1', extra: { 'example.com/scope': ['a', 'b'] } } : {}),
  }),
};

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const spec = { request: certificateRequest(), signerName: 'example.com/signer', usages: ['client auth'] };
let server: TestServer;
let path: string;
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader });
});
afterAll(() => server.server.stop());
beforeEach(async () => {
  const name = `r${made++}`;
  path = `${requests}/${name}`;
  await create('plain', name);
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const create = (user: string, name: string, more: object = {}): Promise<Answer> =>
  server.request('POST', requests, {
    headers: { 'x-user': user },
    body: { metadata: { name }, spec: { ...spec, ...more } },
  });

const patch = (part: string, status: unknown): Promise<Answer> =>
  server.request('PATCH', part === '' ? path : `${path}/${part}`, {
    headers: { 'x-user': 'plain', 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status }),
  });

const condition = (type: string, more: object = {}) => ({ type, status: 'True', reason: 'x', ...more });
const told = ({ status, json }: Answer): unknown =>
  status === 422 ? json.details?.causes?.map(({ field, message }) => `${field}: ${message}`) : status;

interface RequestStatus {
  readonly conditions?: readonly { readonly lastTransitionTime?: string }[];
  readonly certificate?: string;
}

async function statusOf(): Promise<RequestStatus> {
  const { json } = await server.request('GET', path, { headers: { 'x-user': 'plain' } });
  return (json.status ?? {}) as RequestStatus;
}

async function created(user: string, name: string): Promise<Record<string, unknown>> {
  const { json } = await create(user, name, pretended);
  return json.spec as Record<string, unknown>;
}

const pretended = { username: 'root', uid: 'u-0', groups: ['g'], extra: { 'example.com/scope': ['all'] } };

describe('API-340 what is asked for', () => {
  const causes = async (more: object): Promise<unknown> => told(await create('plain', 'wrong', more));

  it.each([
    [{ request: null }, 'null: PEM block type must be CERTIFICATE REQUEST'],
    [{ request: 'aGk=' }, '"aGk=": PEM block type must be CERTIFICATE REQUEST'],
  ])('is a request in PEM: %j', async (more, why) => {
    expect(await causes(more)).toEqual([`spec.request: Invalid value: ${why}`]);
  });

  it('is signed with the key it is about', async () => {
    const request = certificateRequest({ forged: true }, 'ec');
    expect(await causes({ request })).toEqual([
      `spec.request: Invalid value: "${request}": x509: ECDSA verification failure`,
    ]);
  });

  it('is for known usages, at least one and each once', async () => {
    expect(await causes({ usages: [] })).toEqual(['spec.usages: Required value']);
    expect(await causes({ usages: ['client auth', 'nope', 'client auth'] })).toEqual([
      expect.stringMatching(/^spec.usages\[1\]: Unsupported value: "nope": supported values: "any", "cert sign", /),
      'spec.usages[2]: Duplicate value: "client auth"',
    ]);
  });

  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  it.each([
    ['x', `"x": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
    ['a.b/c/d', `"a.b/c/d": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
    ['a/b', '"a": should be a domain with at least two segments separated by dots'],
    ['A.b/c', `"A.b": validating label "A": ${label}`],
    ['a.b/c..d', '"c..d": validating label "": a lowercase RFC 1123 subdomain must consist of'],
    ['kubernetes.io/legacy-unknown', 'the legacy signerName is not allowed via this API version'],
  ])('names a signer of a domain: not %j', async (signerName, why) => {
    expect(await causes({ signerName })).toEqual([expect.stringContaining(why)]);
  });

  it('is good for ten minutes at least', async () => {
    expect(await causes({ expirationSeconds: 599 })).toEqual([
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ]);
    expect(told(await create('plain', 'short', { expirationSeconds: 600 }))).toBe(201);
  });
});

describe('API-340 what a signer writes to /status approves nothing', () => {
  it.each(['Approved', 'Denied'])('%s cannot be added', async (type) => {
    expect(told(await patch('status', { conditions: [condition(type)] }))).toEqual([
      `status.conditions: Forbidden: updates may not add a condition of type "${type}"`,
    ]);
    expect(await statusOf()).toEqual({});
  });

  it('nor taken away', async () => {
    await patch('approval', { conditions: [condition('Approved')] });
    const refused = ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'];
    expect(told(await patch('status', { conditions: [] }))).toEqual(refused);
    expect(told(await patch('status', { conditions: null }))).toEqual(refused);
    expect(told(await patch('approval', { conditions: [] }))).toEqual(refused);
  });

  it('nor changed: the stored one stays', async () => {
    await patch('approval', { conditions: [condition('Approved')] });
    const { conditions } = await statusOf();
    const changed = condition('Approved', { reason: 'other', message: 'm' });
    expect(told(await patch('status', { conditions: [condition('Failed'), changed] }))).toBe(200);
    expect((await statusOf()).conditions).toEqual([expect.objectContaining({ type: 'Failed' }), conditions?.[0]]);
  });

  it('the whole object changes neither', async () => {
    expect(told(await patch('', { conditions: [condition('Approved')] }))).toBe(200);
    expect(await statusOf()).toEqual({});
  });
});

describe('API-340 conditions of a request for a certificate', () => {
  it('Approved and Denied exclude each other', async () => {
    expect(told(await patch('approval', { conditions: [condition('Approved'), condition('Denied')] }))).toEqual([
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    await patch('approval', { conditions: [condition('Denied')] });
    expect(told(await patch('approval', { conditions: [condition('Denied'), condition('Approved')] }))).toEqual([
      'status.conditions: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
    ]);
  });

  it.each(['Approved', 'Denied', 'Failed'])('%s is True or absent', async (type) => {
    expect(told(await patch('approval', { conditions: [condition(type, { status: 'False' })] }))).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
  });

  it('LIFE-506 get the times that are missing; that of a transition moves with the status only', async () => {
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    await patch('approval', { conditions: [condition('Other', { lastTransitionTime: '2020-01-01T00:00:00Z' })] });
    await patch('approval', { conditions: [condition('Other'), condition('Approved')] });
    expect((await statusOf()).conditions).toEqual([
      condition('Other', { lastUpdateTime: time, lastTransitionTime: '2020-01-01T00:00:00Z' }),
      condition('Approved', { lastUpdateTime: time, lastTransitionTime: time }),
    ]);
    await patch('status', { conditions: [condition('Other', { status: 'False' }), condition('Approved')] });
    expect((await statusOf()).conditions?.[0]?.lastTransitionTime).not.toBe('2020-01-01T00:00:00Z');
  });
});

describe('API-340 status.certificate', () => {
  const invalid = (why: string) => [`status.certificate: Invalid value: "<certificate data>": ${why}`];
  const asked = '-----BEGIN CERTIFICATE REQUEST-----\nMIH9\n-----END CERTIFICATE REQUEST-----\n';
  const withHeader = caPem.replace('-----\n', '-----\nname: value\n\n');

  it.each([
    ['junk', 'must contain at least one CERTIFICATE PEM block'],
    [`${caPem}${asked}`, 'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'],
    [withHeader, 'no PEM block headers are permitted'],
    [
      '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
      'found CERTIFICATE PEM block containing 0 certificates',
    ],
    [`${caPem}-----BEGIN CERTIFICATE-----\nMIH9\n-----END CERTIFICATE-----\n`, 'x509: malformed certificate'],
  ])('has to be certificates (%#)', async (text, why) => {
    expect(told(await patch('status', { certificate: base64(text) }))).toEqual(invalid(why));
  });

  it('LIFE-506 is written once, through /status only', async () => {
    const certificate = base64(`the chain\n${serverCertPem}${caPem}`);
    await patch('approval', { certificate });
    expect((await statusOf()).certificate).toBeUndefined();
    expect(told(await patch('status', { certificate }))).toBe(200);
    expect(told(await patch('status', { certificate }))).toBe(200);
    expect(told(await patch('status', { certificate: base64(caPem) }))).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    expect(told(await patch('approval', { conditions: [condition('Approved')], certificate: null }))).toBe(200);
    expect((await statusOf()).certificate).toBe(certificate);
  });
});

describe('API-340 who asks for a certificate is written down by the server', () => {
  it('with uid and extra of its user', async () => {
    const written = await created('full', 'full');
    expect(written).toMatchObject({ username: 'full', uid: 'u-1' });
    expect(written['extra']).toEqual({ 'example.com/scope': ['a', 'b'] });
  });

  it('without them where the user has none', async () => {
    const written = await created('plain', 'plain');
    expect(written['username']).toBe('plain');
    expect(written['groups']).not.toContain('g');
    expect(written).not.toHaveProperty('uid');
    expect(written).not.toHaveProperty('extra');
  });
});
