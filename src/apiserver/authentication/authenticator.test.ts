import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../base/http-message.ts';
import { StatusError } from '../../api/status-error.ts';
import type { Authenticator } from './authenticator.ts';
import { unionAuthenticator } from './authenticator.ts';
import { bearerToken, staticTokenVerifier, tokenAuthenticator } from './token-authenticator.ts';
import { x509Authenticator } from './x509-authenticator.ts';

const request = (more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  target: '/',
  headers: {},
  ...more,
});
const withAuthorization = (value: string | readonly string[]): HttpRequest =>
  request({ headers: { authorization: value } });

const tokens = tokenAuthenticator(
  staticTokenVerifier([
    { token: 'secret-a', user: { username: 'ann', uid: 'u1', groups: ['dev'], extra: { scope: ['x'] } } },
    { token: 'secret-b', user: { username: 'bob', groups: ['system:authenticated'] } },
  ]),
);
const union = unionAuthenticator([x509Authenticator, tokens]);

describe('bearerToken', () => {
  it.each([
    ['Bearer abc', 'abc'],
    ['bearer   abc ', 'abc'],
    ['BEARER a.b-c_d', 'a.b-c_d'],
    ['Bearer', ''],
    ['Bearer ', ''],
    ['Basic abc', undefined],
    ['Bearerabc', undefined],
  ])('API-371 %j holds the token %j', (header, token) => {
    expect(bearerToken(withAuthorization(header))).toBe(token);
    expect(bearerToken(withAuthorization([header]))).toBe(token);
  });

  it('API-371 no header is no token', () => {
    expect(bearerToken(request())).toBeUndefined();
  });
});

describe('tokenAuthenticator', () => {
  it('API-371 a known token is its user, and every authenticated user is in system:authenticated', async () => {
    expect(tokens.authenticate(withAuthorization('Bearer secret-a'))).toEqual({
      username: 'ann',
      uid: 'u1',
      groups: ['dev', 'system:authenticated'],
      extra: { scope: ['x'] },
    });
    expect((await tokens.authenticate(withAuthorization('Bearer secret-b')))?.groups).toEqual(['system:authenticated']);
  });

  it.each(['Bearer wrong', 'Bearer', 'Bearer secret-a0', 'Bearer secret'])(
    'API-371 the bad token %j is 401, never anonymous',
    (header) => {
      expect(unauthorized(() => tokens.authenticate(withAuthorization(header)))).toEqual({
        code: 401,
        reason: 'Unauthorized',
        message: 'Unauthorized',
      });
    },
  );

  it('API-371 another scheme or none carries no credentials for it', () => {
    expect(tokens.authenticate(request())).toBeUndefined();
    expect(tokens.authenticate(withAuthorization('Basic dTpw'))).toBeUndefined();
  });
});

describe('x509Authenticator', () => {
  it('API-371 common name is the user, organizations are the groups', () => {
    const peer = { commonName: 'kubegc-admin', organizations: ['system:masters'] };
    expect(x509Authenticator.authenticate(request({ peer }))).toEqual({
      username: 'kubegc-admin',
      groups: ['system:masters', 'system:authenticated'],
    });
  });

  it('API-371 the fingerprint is given as the credential, and the uid of the subject is that of the user', () => {
    const peer = { commonName: 'ann', organizations: [], uid: 'u1', fingerprint: 'ab01' };
    expect(x509Authenticator.authenticate(request({ peer }))).toEqual({
      username: 'ann',
      uid: 'u1',
      groups: ['system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab01'] },
    });
  });

  it('API-371 a certificate that cannot be believed is 401, not anonymous', () => {
    expect(unauthorized(() => x509Authenticator.authenticate(request({ peer: 'refused' }))).code).toBe(401);
  });

  it('API-371 without a certificate, or one without a common name, there are no credentials', () => {
    expect(x509Authenticator.authenticate(request())).toBeUndefined();
    expect(
      x509Authenticator.authenticate(request({ peer: { commonName: '', organizations: ['system:masters'] } })),
    ).toBeUndefined();
  });
});

describe('unionAuthenticator', () => {
  it('API-371 the first that recognises credentials decides', async () => {
    const both = { ...withAuthorization('Bearer wrong'), peer: { commonName: 'carl', organizations: [] } };
    expect((await union.authenticate(both))?.username).toBe('carl');
    expect((await union.authenticate(withAuthorization('Bearer secret-a')))?.username).toBe('ann');
    expect(union.authenticate(request())).toBeUndefined();
  });

  it('API-371 bad credentials are forgiven where others are good, and are 401 where nobody finds a user', async () => {
    expect((await union.authenticate({ ...withAuthorization('Bearer secret-a'), peer: 'refused' }))?.username).toBe(
      'ann',
    );
    expect(unauthorized(() => union.authenticate(request({ peer: 'refused' }))).code).toBe(401);
    const nobody: Authenticator = { authenticate: () => undefined };
    const chain = unionAuthenticator([tokens, nobody]);
    expect(unauthorized(() => chain.authenticate(withAuthorization('Bearer wrong'))).code).toBe(401);
    expect(chain.authenticate(request())).toBeUndefined();
  });

  it('API-371 the same holds for an authenticator that has to look something up', async () => {
    const late: Authenticator = { authenticate: () => Promise.reject(new Error('first')) };
    const later: Authenticator = { authenticate: () => Promise.reject(new Error('second')) };
    await expect(unionAuthenticator([late, later]).authenticate(request())).rejects.toThrow('first');
    const peer = { commonName: 'carl', organizations: [] };
    const chain = unionAuthenticator([late, x509Authenticator]);
    expect((await chain.authenticate(request({ peer })))?.username).toBe('carl');
  });
});

function unauthorized(act: () => unknown): { code: number; reason: string; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.code, reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('expected a 401');
}
