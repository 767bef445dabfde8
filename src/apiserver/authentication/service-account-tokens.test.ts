import { generateKeyPairSync, verify as verifySignature, createPublicKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { seededRandom } from '../../base/random/random.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { type Answer, startTestServer, type TestServer } from '../test/test-server.ts';
import { signCompact, signingKeyOf, type SigningKey } from './json-web-signature.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';
import { staticTokenVerifier, tokenAuthenticator, unionTokenVerifier } from './token-authenticator.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const start = Date.UTC(2026, 0, 2, 3, 4, 5);

function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return signingKeyOf(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

const key = newKey();
let clock: FakeClock;
let server: TestServer;

beforeEach(async () => {
  clock = new FakeClock(start);
  const store = openMemoryStore({ clock });
  const random = seededRandom(7);
  const serviceAccountTokens = new ServiceAccountTokens({ store, clock, random, key, issuer, audiences: [issuer] });
  const root = { token: 'root', user: { username: 'root', groups: ['system:masters'] } };
  const tokens = unionTokenVerifier([staticTokenVerifier([root], [issuer]), serviceAccountTokens]);
  const authenticator = tokenAuthenticator(tokens);
  server = await startTestServer({ store, clock, authenticator, tokens, serviceAccountTokens });
  await create('serviceaccounts', { metadata: { name: 'robot' } });
});
afterEach(() => server.server.stop());

const core = '/api/v1/namespaces/default';
const asRoot = { authorization: 'Bearer root' };

async function create(resource: string, object: object): Promise<string> {
  const path = resource === 'nodes' ? '/api/v1/nodes' : `${core}/${resource}`;
  const { status, json } = await server.post(path, object, asRoot);
  expect(status).toBe(201);
  return json.metadata?.uid ?? '';
}

const remove = (resource: string, name: string) =>
  server.request('DELETE', `${resource === 'nodes' ? '/api/v1' : core}/${resource}/${name}`, { headers: asRoot });

const ask = (spec: object = {}, metadata: object = {}, name = 'robot'): Promise<Answer> =>
  server.post(
    `${core}/serviceaccounts/${name}/token`,
    { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata, spec },
    asRoot,
  );

async function token(spec: object = {}): Promise<string> {
  const { json } = await ask(spec);
  return (json['status'] as unknown as { token: string }).token;
}

const payloadOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** The user that the server finds for the bearer, or the code of its refusal. */
async function whoAmI(jwt: string): Promise<unknown> {
  const { status, json } = await server.post(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    {},
    { authorization: `Bearer ${jwt}` },
  );
  return status === 201 ? (json['status'] as unknown as { userInfo: unknown }).userInfo : status;
}

async function review(jwt: string, audiences?: readonly string[]): Promise<Record<string, unknown>> {
  const spec = { token: jwt, ...(audiences === undefined ? {} : { audiences }) };
  const { json } = await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec }, asRoot);
  return json['status'] as unknown as Record<string, unknown>;
}

const errorOf = async (jwt: string, audiences?: readonly string[]) => (await review(jwt, audiences))['error'];
const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }], ...more },
});

describe('TokenRequest', () => {
  it('API-377 answers with a token of an hour for this server, and what was asked', async () => {
    const { status, json } = await ask();
    const uid = (await server.get(`${core}/serviceaccounts/robot`, asRoot)).json.metadata?.uid;
    const answered = json['status'] as unknown as { token: string; expirationTimestamp: string };
    expect(status).toBe(201);
    expect(json).toEqual({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'robot', namespace: 'default', uid, creationTimestamp: '2026-01-02T03:04:05Z' },
      spec: { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null },
      status: { token: answered.token, expirationTimestamp: '2026-01-02T04:04:05Z' },
    });
    const seconds = start / 1000;
    expect(payloadOf(answered.token)).toEqual({
      aud: [issuer],
      exp: seconds + 3600,
      iat: seconds,
      iss: issuer,
      jti: expect.stringMatching(/^[\da-f-]{36}$/),
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid } },
      nbf: seconds,
      sub: 'system:serviceaccount:default:robot',
    });
  });

  it.each([
    [
      { expirationSeconds: 599 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      { expirationSeconds: 2 ** 32 + 1 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [
      {},
      { name: 'other' },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    ],
    [
      {},
      { namespace: 'other' },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.namespace: Invalid value: "other": must match the service account namespace if specified',
    ],
    [
      { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'c' } },
      {},
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [{ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'no' } }, {}, 404, 'secrets "no" not found'],
  ])('API-377 refuses %j %j', async (spec, metadata, code, message) => {
    const { status, json } = await ask(spec, metadata);
    expect([status, json.message]).toEqual([code, message]);
  });

  it('API-377 is about the account, and the object, of that uid', async () => {
    expect((await ask({}, {}, 'nobody')).status).toBe(404);
    const wrong = await ask({}, { uid: '1-2' });
    expect([wrong.status, wrong.json.message]).toEqual([
      409,
      expect.stringMatching(
        /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "robot": the UID in the token request \(1-2\) does not match the UID of the service account \(.{36}\)$/,
      ),
    ]);
    await create('secrets', { metadata: { name: 's' } });
    const bound = await ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: '1-2' } });
    expect([bound.status, bound.json.message]).toEqual([
      409,
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (1-2) does not match the UID in record. The object might have been deleted and then recreated',
    ]);
    await create('pods', pod('other', { serviceAccountName: 'somebody' }));
    const pods = await ask({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'other' } });
    expect([pods.status, pods.json.message]).toEqual([
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ]);
  });

  it('API-377 a pod’s token of the usual lifetime lives on for a year, and says when it should have been renewed', async () => {
    await create('pods', pod('p'));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    const payload = payloadOf(await token({ expirationSeconds: 3607, boundObjectRef }));
    expect(payload['exp']).toBe(start / 1000 + 365 * 24 * 3600);
    expect(payload['kubernetes.io']).toMatchObject({ warnafter: start / 1000 + 3607 });
    const elsewhere = payloadOf(await token({ expirationSeconds: 3607, boundObjectRef, audiences: ['vault'] }));
    expect(elsewhere['exp']).toBe(start / 1000 + 3607);
  });
});

describe('tokens of service accounts', () => {
  it('API-371 are their account, with its groups and what the token is bound to', async () => {
    const jwt = await token();
    const { jti, 'kubernetes.io': claims } = payloadOf(jwt) as {
      jti: string;
      'kubernetes.io': { serviceaccount: { uid: string } };
    };
    const user = {
      username: 'system:serviceaccount:default:robot',
      uid: claims.serviceaccount.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] },
    };
    expect(await whoAmI(jwt)).toEqual(user);
    expect(await review(jwt)).toEqual({ authenticated: true, user, audiences: [issuer] });
    await create('nodes', { metadata: { name: 'n' } });
    const uid = await create('pods', pod('p', { nodeName: 'n' }));
    const ofPod = await whoAmI(await token({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }));
    expect((ofPod as { extra: object }).extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': [uid],
      'authentication.kubernetes.io/node-name': ['n'],
    });
    // The node of the pod is added, not requested.
    await remove('nodes', 'n');
    expect(await whoAmI(await token({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } }))).toMatchObject({
      extra: { 'authentication.kubernetes.io/node-name': ['n'] },
    });
  });

  it.each([
    ['Pod', 'pods', pod('bound')],
    ['Secret', 'secrets', { metadata: { name: 'bound' } }],
    ['Node', 'nodes', { metadata: { name: 'bound' } }],
  ] as const)(
    'API-371 bound to a %s are void when it is gone, also when another one has its name',
    async (kind, resource, object) => {
      const uid = await create(resource, object);
      const jwt = await token({ boundObjectRef: { kind, apiVersion: 'v1', name: 'bound', uid } });
      expect(await whoAmI(jwt)).toMatchObject({ username: 'system:serviceaccount:default:robot' });
      await remove(resource, 'bound');
      expect([await whoAmI(jwt), await errorOf(jwt)]).toEqual([
        401,
        '[invalid bearer token, service account token has been invalidated]',
      ]);
      const other = await create(resource, object);
      const word = kind.toLowerCase();
      expect(await errorOf(jwt)).toBe(
        `[invalid bearer token, ${word} UID (${other}) does not match service account ${word} ref claim (${uid})]`,
      );
    },
  );

  it('API-371 are void when the account is gone, or is on its way out for a minute', async () => {
    const jwt = await token();
    await server.request('PATCH', `${core}/serviceaccounts/robot`, {
      headers: { ...asRoot, 'content-type': 'application/merge-patch+json' },
      body: '{"metadata":{"finalizers":["example.com/f"]}}',
    });
    await remove('serviceaccounts', 'robot');
    clock.advance(60_000);
    expect(await whoAmI(jwt)).toMatchObject({ username: 'system:serviceaccount:default:robot' });
    clock.advance(1_001);
    expect(await errorOf(jwt)).toBe('[invalid bearer token, service account default/robot has been deleted]');
    await server.request('PATCH', `${core}/serviceaccounts/robot`, {
      headers: { ...asRoot, 'content-type': 'application/merge-patch+json' },
      body: '{"metadata":{"finalizers":null}}',
    });
    expect(await errorOf(jwt)).toBe('[invalid bearer token, serviceaccounts "robot" not found]');
    await create('serviceaccounts', { metadata: { name: 'robot' } });
    expect(await errorOf(jwt)).toMatch(/service account UID \(.{36}\) does not match claim \(.{36}\)\]$/);
    expect(await whoAmI(jwt)).toBe(401);
  });

  it('API-371 count in their time, with a minute for clocks that differ', async () => {
    const jwt = await token({ expirationSeconds: 600 });
    clock.advance(660_000);
    expect(await whoAmI(jwt)).toMatchObject({ username: 'system:serviceaccount:default:robot' });
    clock.advance(1);
    expect([await whoAmI(jwt), await errorOf(jwt)]).toEqual([
      401,
      '[invalid bearer token, service account token has expired]',
    ]);
    // A token from a server whose clock was ahead.
    const uid = (await server.get(`${core}/serviceaccounts/robot`, asRoot)).json.metadata?.uid ?? '';
    const ahead = (ms: number) => {
      const clockAhead = new FakeClock(clock.now() + ms);
      const options = {
        store: server.store,
        clock: clockAhead,
        random: seededRandom(8),
        key,
        issuer,
        audiences: [issuer],
      };
      const order = { namespace: 'default', account: { name: 'robot', uid }, binding: {}, audiences: [issuer] };
      return new ServiceAccountTokens(options).issue({ ...order, expirationSeconds: 600 });
    };
    expect(await errorOf(ahead(59_000))).toBeUndefined();
    expect(await errorOf(ahead(62_000))).toBe('[invalid bearer token, service account token is not valid yet]');
  });

  it('API-371 API-374 are for their audience', async () => {
    const jwt = await token({ audiences: ['vault', 'bank'] });
    expect(await whoAmI(jwt)).toBe(401);
    expect(await errorOf(jwt)).toBe(
      `[invalid bearer token, token audiences ["vault" "bank"] is invalid for the target audiences ["${issuer}"]]`,
    );
    expect(await review(jwt, ['bank', 'shop'])).toMatchObject({ authenticated: true, audiences: ['bank'] });
    expect((await review(jwt, ['shop']))['authenticated']).toBeUndefined();
    expect(await review('root')).toMatchObject({ authenticated: true, audiences: [issuer] });
    expect(await review('root', ['vault'])).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  it('API-371 are believed only with this server’s signature', async () => {
    const jwt = await token();
    const [head, payload, signature] = jwt.split('.');
    const swap = (header: object, claims: object = payloadOf(jwt), sign = signature) =>
      [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + `.${sign}`;
    const honest = { alg: 'ES256', kid: key.id };
    expect(await whoAmI(swap(honest, payloadOf(jwt)))).toMatchObject({
      username: 'system:serviceaccount:default:robot',
    });
    const admin = { ...payloadOf(jwt), sub: 'system:serviceaccount:kube-system:admin' };
    for (const forged of [
      swap(honest, admin),
      swap({ alg: 'none', kid: key.id }),
      swap({ alg: 'none' }, admin, ''),
      swap({ alg: 'HS256', kid: key.id }),
      swap({ alg: 'ES256', kid: 'another' }),
      signCompact(newKey(), payloadOf(jwt)),
      `${head}.${payload}`,
      `${head}.${payload}.`,
      `${head}.${payload}.${signature}.${signature}`,
      `${head}.${payload}.!${signature}`,
      'a.b.c',
    ]) {
      expect([forged, await whoAmI(forged)]).toEqual([forged, 401]);
    }
    // A token of another issuer with the same key is refused.
    expect(await errorOf(signCompact(key, { ...payloadOf(jwt), iss: 'else' }))).toBe('invalid bearer token');
    // Signed by this server, but without the claims of such a token.
    expect(await whoAmI(signCompact(key, { iss: issuer }))).toBe(401);
  });
});

describe('tokens in Secrets', () => {
  /** Creates a token secret as the controller does. */
  async function kept(): Promise<string> {
    const uid = (await server.get(`${core}/serviceaccounts/robot`, asRoot)).json.metadata?.uid ?? '';
    const options = { store: server.store, clock, random: seededRandom(9), key, issuer, audiences: [issuer] };
    const made = new ServiceAccountTokens(options).issueLegacy({
      namespace: 'default',
      account: { name: 'robot', uid },
      secret: 'kept',
    });
    const annotations = { 'kubernetes.io/service-account.name': 'robot' };
    const type = 'kubernetes.io/service-account-token';
    await create('secrets', { metadata: { name: 'kept', annotations }, type, stringData: { token: made } });
    return made;
  }

  it('API-371 LIFE-680 are their account, without an end', async () => {
    const jwt = await kept();
    clock.advance(10 * 365 * 24 * 3600 * 1000);
    expect(await whoAmI(jwt)).toEqual({
      username: 'system:serviceaccount:default:robot',
      uid: expect.any(String),
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(await review(jwt)).toMatchObject({ authenticated: true, audiences: [issuer] });
    expect(await errorOf(jwt, ['vault'])).toContain('is invalid for the target audiences ["vault"]');
  });

  it('API-513 API-371 a ConfigMap says since when their use is noted', async () => {
    const name = 'kube-apiserver-legacy-service-account-token-tracking';
    const { json } = await server.get(`/api/v1/namespaces/kube-system/configmaps/${name}`, asRoot);
    expect(json['data']).toEqual({ since: new Date(clock.now()).toISOString().slice(0, 10) });
    const without = await startTestServer();
    expect((await without.get(`/api/v1/namespaces/kube-system/configmaps/${name}`)).status).toBe(404);
    await without.server.stop();
  });

  it('API-371 bear the day of their last use, and are refused when they are marked as invalid', async () => {
    const jwt = await kept();
    const labels = async () => (await server.get(`${core}/secrets/kept`, asRoot)).json.metadata?.labels;
    expect(await labels()).toBeUndefined();
    const today = new Date(clock.now()).toISOString().slice(0, 10);
    await whoAmI(jwt);
    expect(await labels()).toEqual({ 'kubernetes.io/legacy-token-last-used': today });
    const version = async () => (await server.get(`${core}/secrets/kept`, asRoot)).json.metadata?.resourceVersion;
    const before = await version();
    await whoAmI(jwt);
    expect(await version()).toBe(before);
    clock.advance(24 * 3600 * 1000);
    await whoAmI(jwt);
    expect(await labels()).not.toEqual({ 'kubernetes.io/legacy-token-last-used': today });
    await server.request('PATCH', `${core}/secrets/kept`, {
      headers: { ...asRoot, 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': today } } }),
    });
    expect(await errorOf(jwt)).toContain('for service account default/robot has been marked invalid.');
  });

  it('API-371 are void without the Secret, with another token in it, and without the account', async () => {
    const jwt = await kept();
    const patch = (data: object) =>
      server.request('PATCH', `${core}/secrets/kept`, {
        headers: { ...asRoot, 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ stringData: data }),
      });
    await patch({ token: `${jwt.slice(0, -1)}_` });
    expect(await errorOf(jwt)).toBe("[invalid bearer token, Token does not match server's copy]");
    await patch({ token: jwt });
    expect(await errorOf(jwt)).toBeUndefined();
    await remove('serviceaccounts', 'robot');
    expect(await errorOf(jwt)).toBe('[invalid bearer token, serviceaccounts "robot" not found]');
    await create('serviceaccounts', { metadata: { name: 'robot' } });
    expect(await errorOf(jwt)).toMatch(/ServiceAccount UID \(.{36}\) does not match claim/);
    await remove('secrets', 'kept');
    expect(await errorOf(jwt)).toBe('[invalid bearer token, Token has been invalidated]');
  });

  it('API-371 are believed only with this server’s signature', async () => {
    const claims = payloadOf(await kept());
    expect(await errorOf(signCompact(newKey(), claims))).toBe(
      '[invalid bearer token, invalid signature, no keys found]',
    );
    expect(await errorOf(signCompact(key, { ...claims, sub: 'system:serviceaccount:kube-system:admin' }))).toBe(
      '[invalid bearer token, sub claim is invalid]',
    );
  });
});

describe('OpenID discovery', () => {
  it('API-378 publishes how to verify tokens', async () => {
    const configuration = await server.get('/.well-known/openid-configuration', asRoot);
    expect(configuration.headers['content-type']).toBe('application/json');
    expect(configuration.json).toEqual({
      issuer,
      jwks_uri: 'https://localhost:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const keys = await server.get('/openid/v1/jwks', asRoot);
    expect(keys.headers['content-type']).toBe('application/jwk-set+json');
    const [jwk] = (keys.json as unknown as { keys: Record<string, string>[] }).keys;
    const [head = '', payload = '', signature = ''] = (await token()).split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'ES256', kid: jwk?.['kid'] });
    const publicKey = createPublicKey({ key: jwk ?? {}, format: 'jwk' });
    const checked = verifySignature(
      'sha256',
      Buffer.from(`${head}.${payload}`),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(checked).toBe(true);
    expect(JSON.stringify(jwk)).not.toContain('"d"');
  });

  it('API-378 by roles, shows them to service accounts, and not to everybody', async () => {
    const jwt = await token();
    const { store } = server;
    const serviceAccountTokens = new ServiceAccountTokens({
      store,
      clock,
      random: seededRandom(8),
      key,
      issuer,
      audiences: [issuer],
    });
    const byRoles = await startTestServer({
      store,
      clock,
      authenticator: tokenAuthenticator(serviceAccountTokens),
      tokens: serviceAccountTokens,
      serviceAccountTokens,
      authorizationMode: 'RBAC',
      anonymous: 'allowed',
    });
    for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks']) {
      expect((await byRoles.get(path)).status, path).toBe(403);
      expect((await byRoles.get(path, { authorization: `Bearer ${jwt}` })).status, path).toBe(200);
    }
    await byRoles.server.stop();
  });

  it('API-377 API-378 without a key there are neither tokens nor documents', async () => {
    const bare = await startTestServer();
    await bare.post(`${core}/serviceaccounts`, { metadata: { name: 'robot' } });
    const refused = await bare.post(`${core}/serviceaccounts/robot/token`, {});
    expect([refused.status, refused.json.message]).toEqual([
      503,
      'this server has no key to sign service account tokens with',
    ]);
    expect((await bare.get('/openid/v1/jwks')).status).toBe(404);
    await bare.server.stop();
  });
});

describe('signing keys', () => {
  it('are ECDSA P-256', () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    expect(() => signingKeyOf(other.toString())).toThrow('not an ECDSA P-256 private key');
    expect(() => signingKeyOf('nonsense')).toThrow();
  });
});
