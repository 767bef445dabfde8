import { describe, expect, it } from 'vitest';
import { deleteObject } from './delete-object.ts';
import { objectWith, setUp, statusWith, target } from './operation.fixture.ts';

const request = { target, policy: 'Background', preconditions: { uid: 'uid-a', resourceVersion: '7' } } as const;

describe('the answer to a write', () => {
  it.each([
    { what: 'a Status of success', answer: statusWith(200, ''), is: 'accepted' },
    { what: 'the object', answer: objectWith({ finalizers: ['f'] }), is: 'accepted' },
    { what: 'NotFound with its name', answer: statusWith(404, 'NotFound', { details: { name: 'a' } }), is: 'absent' },
    { what: 'any other 404', answer: statusWith(404, 'NotFound'), is: 'failed' },
    { what: '409', answer: statusWith(409, 'Conflict'), is: 'conflict' },
    { what: '422', answer: statusWith(422, 'Invalid'), is: 'invalid' },
    { what: '415', answer: statusWith(415, 'UnsupportedMediaType'), is: 'unsupportedMediaType' },
    { what: '500', answer: statusWith(500, 'InternalError'), is: 'failed' },
    { what: 'another object', answer: objectWith({ uid: 'uid-b' }), is: 'failed' },
    { what: 'an empty object', answer: { status: 200, body: {} }, is: 'failed' },
    {
      what: '200 with a Status of failure',
      answer: { status: 200, body: statusWith(404, 'NotFound').body },
      is: 'failed',
    },
  ])('COL-093 COL-094 COL-156 $what: $is', async ({ answer, is }) => {
    const { context } = setUp([answer]);
    expect((await deleteObject(context, request)).answer).toBe(is);
  });

  const notFound = statusWith(404, 'NotFound', { details: { name: 'a', kind: 'configmaps' } });
  it.each([
    { what: 'is not there', read: notFound, is: 'absent' },
    { what: 'is another one', read: objectWith({ uid: 'uid-b' }), is: 'absent' },
    { what: 'is there', read: objectWith({}), is: 'failed' },
    { what: 'cannot be read', read: statusWith(503, 'ServiceUnavailable'), is: 'failed' },
  ])('COL-093 COL-116 a 404 of a write may be of admission: the object $what: $is', async ({ read, is }) => {
    const { context, sent } = setUp([notFound, read]);
    expect((await deleteObject(context, request)).answer).toBe(is);
    expect(sent.map((line) => line.split(' ')[0])).toEqual(['DELETE', 'GET']);
  });

  it('COL-116 COL-002 says that nobody answered the read after such a 404', async () => {
    const { context } = setUp([notFound, statusWith(503, 'ServiceUnavailable')]);
    const { error } = await deleteObject(context, request);
    expect(error).toMatchObject({ code: 503 });
    const there = setUp([notFound, objectWith({})]);
    expect((await deleteObject(there.context, request)).error).toMatchObject({ code: 404 });
  });

  it('COL-150 COL-171 the query of a DELETE, where the server is known to read it', async () => {
    const { context, sent } = setUp([statusWith(200, '')]);
    context.deleteOptions.note({ major: 1, minor: 36 });
    await deleteObject(context, request);
    await deleteObject(context, {
      target,
      policy: 'Foreground',
      preconditions: { uid: 'uid-a', resourceVersion: '8' },
    });
    const custom = { ...target, apiVersion: 'example.com/v1', kind: 'Widget', resource: 'widgets' };
    await deleteObject(context, {
      target: custom,
      policy: 'Background',
      preconditions: { uid: 'uid-a', resourceVersion: '8' },
    });
    expect(sent).toEqual([
      'DELETE uid=uid-a&resourceVersion=7&propagationPolicy=Background',
      'DELETE uid=uid-a&resourceVersion=8&propagationPolicy=Foreground',
      'DELETE json {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-a","resourceVersion":"8"},"propagationPolicy":"Background"}',
    ]);
  });

  it('COL-170 COL-171 the body of a DELETE', async () => {
    const { context, sent } = setUp([statusWith(200, '')]);
    await deleteObject(context, request);
    await deleteObject(context, {
      target,
      policy: 'Foreground',
      preconditions: { uid: 'uid-a', resourceVersion: '8' },
    });
    expect(sent).toEqual([
      'DELETE json {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-a","resourceVersion":"7"},"propagationPolicy":"Background"}',
      'DELETE json {"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-a","resourceVersion":"8"},"propagationPolicy":"Foreground"}',
    ]);
  });
});
