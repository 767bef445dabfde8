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

describe('LIFE-566 a write that needs another key to be unchanged', () => {
  const other = '/registry/core/configmaps/default/owner';

  it('is one transaction with the comparison', async () => {
    const store = member.store();
    const created = await store.create(other, value);
    const revision = created.succeeded ? created.kv.modRevision : 0;
    const write = await store.create(key, value, { unchanged: { key: other, revision } });
    expect(write).toMatchObject({ succeeded: true, kv: { modRevision: revision + 1 } });
    await store.update(other, Buffer.from('{}'), revision);
    const refused = await store.update(key, value, revision + 1, { unchanged: { key: other, revision } });
    expect(refused).toMatchObject({ succeeded: false, current: { modRevision: revision + 1 } });
  });

  it.each([
    ['applied, answer lost', expect.objectContaining({ succeeded: true })],
    ['lost', expect.any(StoreOutcomeUnknownError)],
  ] as const)('when its first attempt was %s and the other key has changed', async (fate, outcome) => {
    const store = member.store();
    await store.create(other, value);
    member.next([fate], async () => {
      await member.store(2).update(other, Buffer.from('{}'), 2);
    });
    const write = store.create(key, value, { unchanged: { key: other, revision: 2 } });
    expect(await write.catch((error: unknown) => error)).toEqual(outcome);
  });
});
