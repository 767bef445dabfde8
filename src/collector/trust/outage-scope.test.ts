import { expect, it } from 'vitest';
import { newStatusError, newTooLargeResourceVersion } from '../../api/status-error.ts';
import { statusErrorOf } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import { target } from '../operations/operation.fixture.ts';
import { NoObjectError } from '../operations/read-metadata.ts';
import { breakageOf, isAnswer, outageOfCall, outageOfWatch } from './outage-scope.ts';

const audited = { 'audit-id': 'e2a1f3a0', 'content-type': 'text/plain; charset=utf-8' };
const said = (code: number, text: string, headers: Record<string, string> = audited): Error =>
  statusErrorOf(code, headers, Buffer.from(text));
const AWAY = 'service unavailable\n';
const UNREACHED = 'error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused\n';
const NO_CONNECTION = new TransportError('refused', 'connect ECONNREFUSED');

it.each([
  { error: newStatusError(403, 'no'), answer: true },
  { error: newStatusError(409, 'no'), answer: true },
  { error: newStatusError(410, 'gone'), answer: true },
  { error: newStatusError(429, 'later'), answer: true },
  { error: newStatusError(500, 'broken'), answer: false },
  { error: newStatusError(503, 'away'), answer: false },
  { error: newTooLargeResourceVersion(12, 3), answer: true },
  { error: new TransportError('reset', 'connection reset by peer'), answer: false },
  { error: new TransportError('timeout', 'too late'), answer: false },
  { error: new NoObjectError(target), answer: false },
])('COL-114 COL-002 tells whether the server itself has answered: $error.message', ({ error, answer }) => {
  expect([isAnswer(error), outageOfCall(error, 'v1')]).toEqual([answer, answer ? undefined : 'all']);
});

it.each([
  { what: 'a server beside it is known to be away', error: said(503, AWAY), scope: 'beside' },
  { what: 'a server beside it is not reached', error: said(503, UNREACHED), scope: 'beside' },
  { what: 'nobody answers', error: NO_CONNECTION, scope: 'all' },
  { what: 'something in between answers', error: said(503, '<h1>503 Service Unavailable</h1>', {}), scope: 'all' },
  { what: 'something in between says the same', error: said(503, AWAY, {}), scope: 'all' },
  { what: 'a proxy of the same making says so', error: said(503, UNREACHED, {}), scope: 'all' },
  { what: 'somebody says something like it', error: said(503, 'no service unavailable'), scope: 'all' },
  { what: 'somebody says more', error: said(503, 'service unavailable: etcd'), scope: 'all' },
  { what: 'it comes with another code', error: said(500, AWAY), scope: 'all' },
  { what: 'the storage is away', error: newStatusError(503, 'service unavailable'), scope: 'all' },
  { what: 'a server failed', error: newStatusError(500, 'etcdserver: leader changed'), scope: 'all' },
])('COL-111 COL-002 the outage is one of $scope when $what', ({ error, scope }) => {
  expect(outageOfCall(error, 'example.com/v1')).toBe(scope);
  // A failure of a built-in kind counts for all kinds, whichever part sent the error.
  for (const apiVersion of ['v1', 'apps/v1']) expect(outageOfCall(error, apiVersion)).toBe('all');
});

it.each([
  { what: 'nobody listens', error: NO_CONNECTION, how: 'away' },
  { what: 'somebody else listens', error: new TransportError('tls', 'certificate is not yet valid'), how: 'away' },
  { what: 'a connection breaks', error: new TransportError('reset', 'connection reset by peer'), how: 'broken' },
  { what: 'no answer comes', error: new TransportError('timeout', 'too late'), how: 'broken' },
  { what: 'a proxy answers', error: said(502, '<h1>502 Bad Gateway</h1>', {}), how: 'broken' },
  { what: 'a request was given up', error: new TransportError('aborted', 'no'), how: undefined },
  { what: 'the server answers', error: newStatusError(500, 'conversion webhook failed'), how: undefined },
  { what: 'the storage is away', error: newStatusError(503, 'service unavailable'), how: undefined },
  { what: 'a server beside it is away', error: said(503, AWAY), how: undefined },
  { what: 'the path is not there', error: said(404, '404 page not found\n'), how: undefined },
  { what: 'the answer is no object', error: new NoObjectError(target), how: undefined },
])('COL-116 the server may be $how when $what', ({ error, how }) => {
  expect(breakageOf(error, 'example.com/v1')).toBe(how);
});

it('COL-111 law 5: after a list or watch that the server answered with an error, only its own kind is not trusted', () => {
  const refused = newStatusError(500, 'conversion webhook failed');
  const outages = (['working', 'inTrouble'] as const).flatMap((before) =>
    [refused, newStatusError(410, 'expired'), NO_CONNECTION].flatMap((error) =>
      ['example.com/v1', 'v1'].map((apiVersion) => outageOfWatch(error, apiVersion, before)),
    ),
  );
  expect(outages.slice(0, 6)).toEqual(['beside', 'all', 'beside', 'all', 'all', 'all']);
  expect(outages.slice(6)).toEqual(['beside', 'all', 'beside', undefined, 'all', 'all']);
});
