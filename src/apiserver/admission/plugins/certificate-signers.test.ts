import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authenticator } from '../../authentication/authenticator.ts';
import { certificateRequest } from '../../authentication/certificate-request.fixture.ts';
import { type Answer, startTestServer, type TestServer } from '../../test/test-server.ts';

const byHeader: Authenticator = {
  authenticate: ({ headers }) => ({
    username: String(headers['x-user']),
    groups: headers['x-user'] === 'root' ? ['system:masters'] : [],
  }),
};

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader });
  await as('root', 'POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'ann' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ann' },
    subjects: [{ kind: 'User', name: 'ann' }],
  });
  const spec = {
    request: certificateRequest(),
    signerName: 'example.com/signer',
    usages: ['client auth'],
  };
  await as('root', 'POST', requests, { metadata: { name: 'r' }, spec });
});
afterAll(() => server.server.stop());

const as = (user: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  server.request(method, path, {
    headers: { 'x-user': user, ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}) },
    ...(body === undefined ? {} : { body: method === 'PATCH' ? JSON.stringify(body) : body }),
  });

/** The rights of ann, in addition to writing approval and status. */
async function annMay(verb: string, ...signers: string[]): Promise<void> {
  const rules = [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
      verbs: ['patch'],
    },
    { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: signers, verbs: [verb] },
  ];
  await as('root', 'PUT', `${rbac}/clusterroles/ann`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'ann' },
    rules,
  });
}

const condition = (type: string) => ({
  status: { conditions: [{ type, status: 'True', reason: 'R', message: type }] },
});
const told = ({ status, json }: Answer) => (status === 403 ? json.message : status);

describe.each([
  ['approve', 'approval', condition('Approved')],
  ['sign', 'status', condition('Failed')],
] as const)('requests for certificates: %s', (verb, part, body) => {
  it('API-340 need the verb on their signer, besides writing', async () => {
    const path = `${requests}/r/${part}`;
    const refused = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to ${verb} requests with signerName "example.com/signer"`;
    await annMay('other', 'example.com/signer');
    expect(told(await as('ann', 'PATCH', path, body))).toBe(refused);
    await annMay(verb, 'example.com/other', 'example.org/*');
    expect(told(await as('ann', 'PATCH', path, body))).toBe(refused);
    await annMay(verb, 'example.com/*');
    expect(told(await as('ann', 'PATCH', `${path}?dryRun=All`, body))).toBe(200);
    await annMay(verb, 'example.com/signer');
    expect(told(await as('ann', 'PATCH', `${path}?dryRun=All`, body))).toBe(200);
  });
});

it('API-340 a status that issues nothing needs no signer', async () => {
  await annMay('other', 'x');
  expect(told(await as('ann', 'PATCH', `${requests}/r/status`, { metadata: { labels: { a: 'b' } } }))).toBe(200);
});

describe('CertificateSubjectRestriction', () => {
  const created = async (name: string, organizations: readonly string[], signerName: string): Promise<unknown> => {
    const spec = { request: certificateRequest({ organizations }), signerName, usages: ['client auth'] };
    return told(await as('root', 'POST', requests, { metadata: { name }, spec }));
  };

  it('API-340 nobody asks for a certificate of system:masters that this server would believe', async () => {
    const client = 'kubernetes.io/kube-apiserver-client';
    expect(await created('m', ['a', 'system:masters'], client)).toBe(
      'certificatesigningrequests.certificates.k8s.io "m" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    expect(await created('n', ['a'], client)).toBe(201);
    expect(await created('o', ['system:masters'], 'example.com/signer')).toBe(201);
  });
});
