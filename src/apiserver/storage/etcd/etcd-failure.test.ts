import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { classifyFailure, type EtcdFailure } from './etcd-failure.ts';

const system = (code: string): Error => Object.assign(new Error(`it is ${code}`), { code });
const because = (code: Code, cause: unknown): ConnectError => {
  const error = new ConnectError('broken', code);
  error.cause = cause;
  return error;
};

describe('what etcd’s errors call for', () => {
  it.each<[string, Code, EtcdFailure['kind']]>([
    ['etcdserver: mvcc: required revision has been compacted', Code.OutOfRange, 'compacted'],
    ['etcdserver: mvcc: required revision is a future revision', Code.OutOfRange, 'future'],
    ['etcdserver: request is too large', Code.InvalidArgument, 'too-large'],
    ['grpc: received message larger than max (3 vs. 2)', Code.ResourceExhausted, 'too-large'],
    ['etcdserver: mvcc: database space exceeded', Code.ResourceExhausted, 'no-space'],
    ['etcdserver: requested lease not found', Code.NotFound, 'no-lease'],
    ['etcdserver: invalid auth token', Code.Unauthenticated, 'stale-token'],
    ['etcdserver: revision of auth store is old', Code.InvalidArgument, 'stale-token'],
    ['etcdserver: permission denied', Code.PermissionDenied, 'denied'],
    ['etcdserver: user name is empty', Code.InvalidArgument, 'denied'],
    ['etcdserver: authentication failed, invalid user ID or password', Code.InvalidArgument, 'denied'],
    ['etcdserver: duplicate key given in txn request', Code.InvalidArgument, 'other'],
    ['etcdserver: corrupt cluster', Code.DataLoss, 'other'],
    ['message size is larger than configured readMaxBytes 5', Code.ResourceExhausted, 'other'],
  ])('%s', (message, code, kind) => {
    expect(classifyFailure(new ConnectError(message, code))).toEqual({ kind, message });
  });

  it.each<[string, Error, 'no' | 'maybe']>([
    ['no leader', new ConnectError('etcdserver: no leader', Code.Unavailable), 'no'],
    ['too many requests', new ConnectError('etcdserver: too many requests', Code.ResourceExhausted), 'no'],
    ['nobody listens', because(Code.Unavailable, system('ECONNREFUSED')), 'no'],
    ['no such host, wrapped', because(Code.Unavailable, new Error('x', { cause: system('ENOTFOUND') })), 'no'],
    ['a certificate that is not believed', because(Code.Internal, system('SELF_SIGNED_CERT_IN_CHAIN')), 'no'],
    ['leader changed', new ConnectError('etcdserver: leader changed', Code.Unavailable), 'maybe'],
    ['request timed out', new ConnectError('etcdserver: request timed out', Code.Unavailable), 'maybe'],
    ['no answer', new ConnectError('no answer within 1 ms', Code.DeadlineExceeded), 'maybe'],
    ['the connection broke', because(Code.Aborted, system('ECONNRESET')), 'maybe'],
    ['anything else', new TypeError('x is not a function'), 'maybe'],
  ])('%s: another member may answer', (_, error, applied) => {
    expect(classifyFailure(error)).toMatchObject({ kind: 'away', applied });
  });

  it('says what the system said', () => {
    expect(classifyFailure(because(Code.Unavailable, system('ECONNREFUSED'))).message).toBe(
      'broken: it is ECONNREFUSED',
    );
    const cyclic = new Error('round and round');
    cyclic.cause = cyclic;
    expect(classifyFailure(because(Code.Unavailable, cyclic)).message).toBe('broken: round and round');
  });
});
