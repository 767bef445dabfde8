import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  StoreOutcomeUnknownError,
  StoreRefusedError,
  StoreTooLargeError,
  StoreFullError,
  StoreUnavailableError,
} from '../store-errors.ts';
import { EtcdMember } from './etcd-member.fixture.ts';

const key = '/registry/core/configmaps/default/a';
const value = Buffer.from('{"a":1}');

let member: EtcdMember;
beforeEach(async () => {
  member = await EtcdMember.start();
});
afterEach(() => member.close());

describe('a write that was not answered', () => {
  it('has succeeded when what it wrote is there', async () => {
    member.next(['applied, answer lost']);
    expect(await member.store().create(key, value)).toMatchObject({ succeeded: true, kv: { modRevision: 2 } });
  });

  it('has a certain end when it never came there', async () => {
    member.next(['lost']);
    expect(await member.store().create(key, value)).toMatchObject({ succeeded: true, kv: { modRevision: 2 } });
  });

  const refusals = [
    ['etcdserver: mvcc: database space exceeded', Code.ResourceExhausted, StoreFullError],
    ['etcdserver: permission denied', Code.PermissionDenied, StoreUnavailableError],
    ['etcdserver: request is too large', Code.InvalidArgument, StoreTooLargeError],
    ['etcdserver: corrupt cluster', Code.DataLoss, StoreRefusedError],
  ] as const;

  it.each(refusals)('has an unknown end when the next attempt is refused: %s', async (message, code, kind) => {
    const store = member.store();
    member.next(['applied, answer lost', new ConnectError(message, code)]);
    await expect(store.create(key, value)).rejects.toThrow(StoreOutcomeUnknownError);
    expect((await store.get(key)).kv).toBeDefined();
    member.next([new ConnectError(message, code)]);
    await expect(store.create(`${key}b`, value)).rejects.toThrow(kind);
  });
});
