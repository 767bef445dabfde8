import { describe, expect, it } from 'vitest';
import { TimeoutError } from '../../base/time/abort.ts';
import { abortedTransportError, transportErrorOf } from './transport-failure.ts';
import { TransportError } from './transport.ts';

const coded = (code: string, message = 'text'): Error => Object.assign(new Error(message), { code });

describe('transportErrorOf', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['ENOTFOUND', 'refused'],
    ['EHOSTUNREACH', 'refused'],
    ['ETIMEDOUT', 'timeout'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'tls'],
    ['HPE_INVALID_CONSTANT', 'protocol'],
    ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_SOCKET', 'reset'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
    ['ERR_HTTP2_PROTOCOL_ERROR', 'protocol'],
    ['ERR_HTTP2_STREAM_CANCEL', 'reset'],
    ['ERR_HTTP2_GOAWAY_SESSION', 'reset'],
    ['SOMETHING_NEW', 'reset'],
  ])('%s is %s', (code, expected) => {
    const error = transportErrorOf(coded(code));
    expect(error).toMatchObject({ name: 'TransportError', code: expected, message: 'text', cause: { code } });
  });

  it('leaves its own errors alone and copes with anything thrown', () => {
    const own = new TransportError('tls', 'x');
    expect(transportErrorOf(own)).toBe(own);
    expect(transportErrorOf('text')).toMatchObject({ code: 'reset', message: 'text' });
    expect(transportErrorOf(coded('EPIPE', '')).message).toBe('EPIPE');
    expect(transportErrorOf(coded('EPROTO', 'wrong version number:1:\n')).message).toBe('wrong version number:1:');
  });

  it('blames the abort, not what it broke', () => {
    expect(transportErrorOf(coded('ECONNRESET'), AbortSignal.abort('why'))).toMatchObject({
      code: 'aborted',
      cause: 'why',
    });
    expect(abortedTransportError(AbortSignal.abort(new TimeoutError(5)))).toMatchObject({
      code: 'timeout',
      message: 'request timed out after 5 ms',
    });
  });
});
