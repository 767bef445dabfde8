import { describe, expect, it } from 'vitest';
import { fieldForbidden, fieldRequired } from './field-error.ts';
import {
  StatusError,
  hasStatusCause,
  isAlreadyExists,
  isConflict,
  isExpired,
  isGone,
  isNotFound,
  isObjectNotFound,
  newAlreadyExists,
  newApplyConflict,
  newBadRequest,
  newConflict,
  newExpired,
  newForbidden,
  newGenerateNameConflict,
  newInternalError,
  newInvalid,
  newMethodNotSupported,
  newNamespaceTerminating,
  newNotAcceptable,
  newNotFound,
  newPathNotFound,
  newRequestEntityTooLarge,
  newServerTimeout,
  newServiceUnavailable,
  newStatusError,
  newTimeout,
  newTooLargeResourceVersion,
  newTooManyRequests,
  newUnauthorized,
  newUnprocessable,
  newUnsupportedMediaType,
  newUntypedInternal,
  newVerbNotSupported,
  successStatus,
} from './status-error.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };

const rows: readonly [string, StatusError, number, string | undefined, string][] = [
  ['bad request', newBadRequest('x'), 400, 'BadRequest', 'x'],
  ['unauthorized', newUnauthorized(), 401, 'Unauthorized', 'Unauthorized'],
  ['forbidden', newForbidden(deployments, 'n', 'why'), 403, 'Forbidden', 'deployments.apps "n" is forbidden: why'],
  ['forbidden without a name', newForbidden(pods, '', 'why'), 403, 'Forbidden', 'pods is forbidden: why'],
  [
    'forbidden without a resource',
    newForbidden({ group: '', resource: '' }, '', 'why'),
    403,
    'Forbidden',
    'forbidden: why',
  ],
  [
    'API-303 terminating namespace',
    newNamespaceTerminating(pods, 'n', 'ns'),
    403,
    'Forbidden',
    'pods "n" is forbidden: unable to create new content in namespace ns because it is being terminated',
  ],
  ['not found', newNotFound(deployments, 'n'), 404, 'NotFound', 'deployments.apps "n" not found'],
  ['API-004 unknown path', newPathNotFound(), 404, 'NotFound', 'the server could not find the requested resource'],
  [
    'API-005 method',
    newMethodNotSupported(),
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
  ],
  [
    'API-005 verb of a custom resource',
    newVerbNotSupported({ group: 'g.io', resource: 'foos' }, 'delete'),
    405,
    'MethodNotAllowed',
    'delete is not supported on resources of kind "foos.g.io"',
  ],
  ['not acceptable', newNotAcceptable('x'), 406, 'NotAcceptable', 'x'],
  ['already exists', newAlreadyExists(pods, 'n'), 409, 'AlreadyExists', 'pods "n" already exists'],
  [
    'API-153 already exists, terminating',
    newAlreadyExists(pods, 'n', { terminating: true }),
    409,
    'AlreadyExists',
    'object is being deleted: pods "n" already exists',
  ],
  [
    'API-061 generated names used up',
    newGenerateNameConflict(pods, 'n'),
    409,
    'AlreadyExists',
    'pods "n" already exists, the server was not able to generate a unique name for the object',
  ],
  [
    'API-171 conflict',
    newConflict(deployments, 'n'),
    409,
    'Conflict',
    'Operation cannot be fulfilled on deployments.apps "n": the object has been modified; please apply your changes to the latest version and try again',
  ],
  ['apply conflict', newApplyConflict([], 'x'), 409, 'Conflict', 'x'],
  ['expired', newExpired('old'), 410, 'Expired', 'old'],
  [
    'API-007 too large',
    newRequestEntityTooLarge('limit is 3145728'),
    413,
    'RequestEntityTooLarge',
    'Request entity too large: limit is 3145728',
  ],
  ['media type', newUnsupportedMediaType('x'), 415, 'UnsupportedMediaType', 'x'],
  [
    'invalid',
    newInvalid({ group: 'apps', kind: 'Deployment' }, 'n', [fieldRequired('spec.a')]),
    422,
    'Invalid',
    'Deployment.apps "n" is invalid: spec.a: Required value',
  ],
  [
    'invalid, several',
    newInvalid({ group: '', kind: 'Pod' }, 'n', [fieldRequired('a'), fieldRequired('b')]),
    422,
    'Invalid',
    'Pod "n" is invalid: [a: Required value, b: Required value]',
  ],
  ['invalid, none', newInvalid({ group: '', kind: 'Pod' }, 'n', []), 422, 'Invalid', 'Pod "n" is invalid'],
  [
    'API-194 unprocessable',
    newUnprocessable(),
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
  ],
  ['too many', newTooManyRequests('slow', 10), 429, 'TooManyRequests', 'slow'],
  ['internal', newInternalError('x'), 500, 'InternalError', 'Internal error occurred: x'],
  ['API-060 untyped', newUntypedInternal('x'), 500, undefined, 'x'],
  [
    'server timeout',
    newServerTimeout(pods, 'list', 1),
    500,
    'ServerTimeout',
    'The list operation against pods could not be completed at this time, please try again.',
  ],
  ['unavailable', newServiceUnavailable('x'), 503, 'ServiceUnavailable', 'x'],
  ['timeout', newTimeout('x'), 504, 'Timeout', 'Timeout: x'],
  [
    'API-094 future revision',
    newTooLargeResourceVersion(9, 5),
    504,
    'Timeout',
    'Timeout: Too large resource version: 9, current: 5',
  ],
  ['any', newStatusError(418, 'tea', { reason: 'Teapot' }), 418, 'Teapot', 'tea'],
];

describe('API-042 texts', () => {
  it.each(rows)('%s', (_, error, code, reason, message) => {
    expect(error.code).toBe(code);
    expect(error.status.reason).toBe(reason);
    expect(error.message).toBe(message);
    expect(error.status).toMatchObject({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code });
  });
});

describe('shape', () => {
  it('API-040 prints the fields in the order of the API server and no empty ones', () => {
    expect(JSON.stringify(newNotFound(deployments, 'n').status)).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \\"n\\" not found","reason":"NotFound","details":{"name":"n","group":"apps","kind":"deployments"},"code":404}',
    );
    expect(JSON.stringify(newPathNotFound().status.details)).toBe('{}');
    expect(newNotFound(pods, 'n').status.details).toEqual({ name: 'n', kind: 'pods' });
  });

  it('API-041 carries seconds to wait', () => {
    expect(newTooManyRequests('x', 10).retryAfterSeconds).toBe(10);
    expect(newBadRequest('x').retryAfterSeconds).toBe(0);
  });

  it('API-043 success names the plural and the uid', () => {
    expect(JSON.stringify(successStatus({ name: 'n', group: 'apps', kind: 'deployments', uid: 'u' }))).toBe(
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"n","group":"apps","kind":"deployments","uid":"u"}}',
    );
    expect(successStatus({ name: 'n', group: '', kind: 'pods', uid: 'u' }).details).toEqual({
      name: 'n',
      kind: 'pods',
      uid: 'u',
    });
  });

  it('API-072 says a repeated finding once but keeps every cause', () => {
    const finding = fieldForbidden('metadata.finalizers', 'no');
    const error = newInvalid({ group: '', kind: 'Pod' }, 'n', [finding, finding]);
    expect(error.message).toBe('Pod "n" is invalid: metadata.finalizers: Forbidden: no');
    expect(error.details.causes).toHaveLength(2);
  });

  it.each([
    [10_000, 'spec.a[9999]: Required value]'],
    [10_001, 'spec.a[9999]: Required value, and 1 more]'],
    [1_000_000, 'spec.a[9999]: Required value, and 990000 more]'],
  ])('API-072 of %i findings it says the first ten thousand, and how many more there are', (count, end) => {
    const findings = Array.from({ length: count }, (_, n) => fieldRequired(`spec.a[${n}]`));
    const error = newInvalid({ group: '', kind: 'Pod' }, 'n', findings);
    expect([error.details.causes?.length, error.message.slice(-end.length)]).toEqual([10_000, end]);
  });

  it.each([
    [1, 1, 'x]'],
    [2, 2, 'x]'],
    [3, 2, 'x, and 1 more]'],
    [9000, 2, 'x, and 8998 more]'],
  ])('API-072 of %i findings of half a mebibyte it says %i, and how many more there are', (count, told, end) => {
    const detail = 'x'.repeat(2 ** 19 - 100);
    const findings = Array.from({ length: count }, (_, n) => fieldForbidden(`spec.a[${n}]`, detail));
    const error = newInvalid({ group: '', kind: 'Pod' }, 'n', findings);
    expect(error.details.causes).toHaveLength(told);
    expect(`${error.message}${count === 1 ? ']' : ''}`.endsWith(end)).toBe(true);
  });

  it('API-072 says the first finding, however long it is', () => {
    const detail = 'x'.repeat(2 ** 21);
    const error = newInvalid({ group: '', kind: 'Pod' }, 'n', [fieldForbidden('a', detail), fieldRequired('b')]);
    expect(error.details.causes).toEqual([
      { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field: 'a' },
    ]);
    expect(error.message.endsWith('x, and 1 more]')).toBe(true);
  });

  it('API-099 hands out a new token with the Status', () => {
    expect(newExpired('old', 'token').status.metadata).toEqual({ continue: 'token' });
  });

  it('API-303 names the cause', () => {
    expect(newNamespaceTerminating(pods, 'n', 'ns').details.causes).toEqual([
      {
        reason: 'NamespaceTerminating',
        message: 'namespace ns is being terminated',
        field: 'metadata.namespace',
      },
    ]);
    expect(hasStatusCause(newNamespaceTerminating(pods, '', 'ns'), 'NamespaceTerminating')).toBe(true);
    expect(hasStatusCause(newBadRequest('x'), 'NamespaceTerminating')).toBe(false);
  });
});

describe('from', () => {
  it('keeps a StatusError, wraps a received Status, and turns the rest into an untyped 500', () => {
    const error = newBadRequest('x');
    expect(StatusError.from(error)).toBe(error);
    expect(StatusError.from(error.status).code).toBe(400);
    const thrown = new TypeError('boom');
    expect(StatusError.from(thrown)).toMatchObject({ code: 500, reason: '', message: 'boom', cause: thrown });
    expect(StatusError.from('text').message).toBe('text');
  });
});

describe('predicates', () => {
  it('COL-116 only a 404 that names the object proves absence', () => {
    expect(isObjectNotFound(newNotFound(pods, 'n'), 'n')).toBe(true);
    expect(isObjectNotFound(newNotFound(pods, 'n'), 'm')).toBe(false);
    expect(isObjectNotFound(newPathNotFound(), 'n')).toBe(false);
    expect(isObjectNotFound(newPathNotFound(), '')).toBe(false);
    expect(isObjectNotFound(newStatusError(404, 'x', { details: { name: 'n' } }), 'n')).toBe(false);
    expect(isObjectNotFound(new Error('404'), 'n')).toBe(false);
  });

  it('the code decides only where the reason is unknown', () => {
    expect(isNotFound(newPathNotFound())).toBe(true);
    expect(isNotFound(newStatusError(404, 'x'))).toBe(true);
    expect(isConflict(newConflict(pods, 'n'))).toBe(true);
    expect(isConflict(newAlreadyExists(pods, 'n'))).toBe(false);
    expect(isConflict(newStatusError(409, 'x', { reason: 'Odd' }))).toBe(true);
    expect(isAlreadyExists(newAlreadyExists(pods, 'n'))).toBe(true);
    expect(isGone(newExpired('x'))).toBe(false);
    expect(isExpired(newExpired('x'))).toBe(true);
    expect(isGone(newStatusError(410, 'x'))).toBe(true);
    expect(isNotFound(undefined)).toBe(false);
  });
});
