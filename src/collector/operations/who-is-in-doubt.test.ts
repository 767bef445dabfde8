import { expect, it } from 'vitest';
import { newStatusError } from '../../api/status-error.ts';
import { statusErrorOf } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import { whoIsInDoubt } from './who-is-in-doubt.ts';

const audited = { 'audit-id': 'e2a1f3a0', 'content-type': 'text/plain; charset=utf-8' };
const said = (code: number, text: string, headers: Record<string, string> = audited): Error =>
  statusErrorOf(code, headers, Buffer.from(text));
const AWAY = 'service unavailable\n';
const UNREACHED = 'error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused\n';
const NO_CONNECTION = new TransportError('refused', 'connect ECONNREFUSED');

it.each([
  { what: 'a server beside it is known to be away', error: said(503, AWAY), inDoubt: 'beside' },
  { what: 'a server beside it is not reached', error: said(503, UNREACHED), inDoubt: 'beside' },
  { what: 'nobody answers', error: NO_CONNECTION, inDoubt: 'all' },
  { what: 'something in between answers', error: said(503, '<h1>503 Service Unavailable</h1>', {}), inDoubt: 'all' },
  { what: 'something in between says the same', error: said(503, AWAY, {}), inDoubt: 'all' },
  { what: 'a proxy of the same making says so', error: said(503, UNREACHED, {}), inDoubt: 'all' },
  { what: 'somebody says something like it', error: said(503, 'no service unavailable'), inDoubt: 'all' },
  { what: 'somebody says more', error: said(503, 'service unavailable: etcd'), inDoubt: 'all' },
  { what: 'it comes with another code', error: said(500, AWAY), inDoubt: 'all' },
  { what: 'the storage is away', error: newStatusError(503, 'service unavailable'), inDoubt: 'all' },
  { what: 'a server failed', error: newStatusError(500, 'etcdserver: leader changed'), inDoubt: 'all' },
])('COL-111 COL-002 who may be another one, when $what: $inDoubt', ({ error, inDoubt }) => {
  expect(whoIsInDoubt(error, 'example.com/v1')).toBe(inDoubt);
  // What kube-apiserver has for certain speaks for all, whoever it seems to be that says so.
  for (const apiVersion of ['v1', 'apps/v1']) expect(whoIsInDoubt(error, apiVersion)).toBe('all');
});
