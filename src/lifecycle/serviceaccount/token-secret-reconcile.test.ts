import { describe, expect, it } from 'vitest';
import { accountOf } from '../../api/meta/token-secret.ts';
import { decideTokenSecret } from './token-secret-reconcile.ts';

const type = 'kubernetes.io/service-account-token';
const account = { metadata: { name: 'robot', namespace: 'n', uid: '1-1' } };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const name = { 'kubernetes.io/service-account.name': 'robot' };
const bound = { ...name, 'kubernetes.io/service-account.uid': '1-1' };
const secret = (annotations: Record<string, string>, data?: Record<string, string>) => ({
  type,
  metadata: { name: 's', annotations },
  ...(data === undefined ? {} : { data }),
});
const full = { 'ca.crt': base64('ca'), namespace: base64('n'), token: base64('robot 1-1') };
const facts = {
  account,
  rootCaPem: 'ca',
  token: (of: { name: string; uid: string }) => `${of.name} ${of.uid}`,
};

describe('decideTokenSecret', () => {
  it.each([
    ['empty', secret(name), { verdict: 'update', reason: 'incomplete', object: secret(bound, full) }],
    ['complete', secret(bound, full), { verdict: 'nothing', reason: 'complete' }],
    ['with a token of its own', secret(bound, { ...full, token: 'x' }), { verdict: 'nothing', reason: 'complete' }],
    [
      'with more in it',
      secret(name, { more: 'x' }),
      { verdict: 'update', reason: 'incomplete', object: secret(bound, { more: 'x', ...full }) },
    ],
    [
      'with an old certificate',
      secret(bound, { ...full, 'ca.crt': 'x' }),
      { verdict: 'update', reason: 'incomplete', object: secret(bound, full) },
    ],
    [
      'of an account of that name before',
      secret({ ...bound, 'kubernetes.io/service-account.uid': '0-0' }, full),
      { verdict: 'delete', reason: 'otherAccount' },
    ],
    ['of another type', { ...secret(name), type: 'Opaque' }, { verdict: 'nothing', reason: 'otherType' }],
    ['gone', undefined, { verdict: 'nothing', reason: 'gone' }],
  ])('LIFE-680 a Secret %s', (_, object, expected) => {
    expect(decideTokenSecret(object, facts)).toEqual(expected);
  });

  it('LIFE-680 goes with its account', () => {
    expect(decideTokenSecret(secret(bound, full), { ...facts, account: undefined })).toEqual({
      verdict: 'delete',
      reason: 'accountGone',
    });
    expect([accountOf(secret(name)), accountOf({})]).toEqual(['robot', '']);
  });
});
