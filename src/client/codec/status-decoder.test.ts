import { describe, expect, it } from 'vitest';
import { isNotFound, isObjectNotFound, newNotFound } from '../../api/status-error.ts';
import { decodeStatus, retryAfterSecondsOf, statusErrorOf } from './status-decoder.ts';
import { envelope, message, partialMetadataEnvelope } from './wire-format.fixture.ts';

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const configmaps = { group: '', resource: 'configmaps' };

describe('statusErrorOf', () => {
  it('COL-116 takes a Status that names the object as proof of absence', () => {
    const error = statusErrorOf(404, {}, json(newNotFound(configmaps, 'zz').status));
    expect(isObjectNotFound(error, 'zz')).toBe(true);
    expect(isObjectNotFound(error, 'other')).toBe(false);
  });

  it.each([
    ['plain text', Buffer.from('404 page not found\n')],
    ['nothing', new Uint8Array()],
    ['HTML with the name in it', Buffer.from('<html>zz</html>')],
    [
      'a Status with empty details',
      json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', details: {}, code: 404 }),
    ],
    [
      'a Status that says success',
      json({ kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name: 'zz' } }),
    ],
    [
      'another object of that name',
      json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'zz' }, reason: 'NotFound' }),
    ],
    ['broken JSON', Buffer.from('{"kind":"Status","apiVersion":"v1","reason":"NotFound","details":{"name":"zz"')],
  ])('COL-116 a 404 with %s is NotFound but proves nothing', (_, body) => {
    const error = statusErrorOf(404, { 'content-type': 'application/json' }, body);
    expect([error.code, isNotFound(error), isObjectNotFound(error, 'zz')]).toEqual([404, true, false]);
  });

  it('keeps the text of an unexpected answer as a cause, shortened', () => {
    const error = statusErrorOf(502, {}, Buffer.from('x'.repeat(5000)));
    expect([error.code, error.message]).toEqual([502, 'the server responded with the status code 502']);
    expect(error.details.causes).toEqual([{ reason: 'UnexpectedServerResponse', message: 'x'.repeat(2048) }]);
  });

  it.each([
    { what: 'of an API server', headers: { 'audit-id': 'one' }, audited: true },
    { what: 'of something in between', headers: {}, audited: false },
  ])('API-009 tells plain text $what', ({ headers, audited }) => {
    expect(statusErrorOf(503, headers, Buffer.from('service unavailable\n'))).toMatchObject({
      code: 503,
      text: 'service unavailable\n',
      audited,
    });
  });

  it('adds Retry-After to an error that does not say it itself', () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', details: {} };
    expect(statusErrorOf(429, { 'retry-after': '7' }, json(status)).retryAfterSeconds).toBe(7);
    expect(statusErrorOf(429, { 'retry-after': ['7'] }, Buffer.from('slow down')).retryAfterSeconds).toBe(7);
    expect(
      statusErrorOf(429, { 'retry-after': '7' }, json({ ...status, details: { retryAfterSeconds: 2 } }))
        .retryAfterSeconds,
    ).toBe(2);
    expect(statusErrorOf(429, { 'retry-after': '7' }, json(status)).code).toBe(429);
  });

  it('ignores a Retry-After that is no number of seconds', () => {
    for (const value of ['', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT', '99999999999']) {
      expect(retryAfterSecondsOf({ 'retry-after': value })).toBeUndefined();
    }
  });
});

describe('decodeStatus', () => {
  it('API-027 reads a Status in protobuf, as it answers requests that prefer protobuf', () => {
    const details = message(
      [1, 'zz'],
      [2, 'apps'],
      [3, 'deployments'],
      [4, message([1, 'r'], [2, 'm'], [3, 'f'])],
      [5, 9],
      [6, 'u-1'],
    );
    const raw = message(
      [1, message([1, ''], [2, '5'], [3, 'next'])],
      [2, 'Failure'],
      [3, 'gone'],
      [4, 'NotFound'],
      [5, details],
      [6, 404],
    );
    const body = envelope('v1', 'Status', raw);
    expect(decodeStatus(body, 0, body.length)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: { resourceVersion: '5', continue: 'next' },
      status: 'Failure',
      message: 'gone',
      reason: 'NotFound',
      details: {
        name: 'zz',
        group: 'apps',
        kind: 'deployments',
        uid: 'u-1',
        causes: [{ reason: 'r', message: 'm', field: 'f' }],
        retryAfterSeconds: 9,
      },
      code: 404,
    });
    expect(isObjectNotFound(statusErrorOf(404, {}, body), 'zz')).toBe(true);
  });

  it('leaves out what Go writes as empty', () => {
    const body = envelope(
      'v1',
      'Status',
      message([1, message([1, ''], [2, ''], [3, ''])], [2, 'Success'], [3, ''], [4, ''], [6, 0]),
    );
    expect(decodeStatus(body, 0, body.length)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      message: '',
    });
  });

  it('is undefined for other kinds and for cut bytes', () => {
    const other = partialMetadataEnvelope({ name: 'zz' });
    expect(decodeStatus(other, 0, other.length)).toBeUndefined();
    const whole = envelope('v1', 'Status', message([2, 'Failure'], [3, 'a message']));
    for (let end = 4; end < whole.length - 4; end++) expect(decodeStatus(whole, 0, end)?.message).toBeUndefined();
  });
});
