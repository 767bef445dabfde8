import { describe, expect, it } from 'vitest';
import { readMetadata, resourceRefOf } from './read-metadata.ts';
import { objectWith, setUp, statusWith, target } from './operation.fixture.ts';

describe('readMetadata', () => {
  it('COL-170 answers what is decided on, and nothing else of the object', async () => {
    const { context } = setUp([
      objectWith({
        resourceVersion: '7',
        finalizers: ['f'],
        deletionTimestamp: '2026-01-01T00:00:00Z',
        labels: { a: 'b' },
      }),
    ]);
    expect(await readMetadata(context, target)).toEqual({
      state: 'found',
      target,
      object: {
        uid: 'uid-a',
        name: 'a',
        namespace: 'ns',
        resourceVersion: '7',
        ownerReferences: [],
        finalizers: ['f'],
        deleting: true,
      },
    });
  });

  it.each([
    {
      what: 'NotFound with its name',
      answer: statusWith(404, 'NotFound', { details: { name: 'a' } }),
      state: 'absent',
      path: 0,
    },
    {
      what: 'NotFound with another name',
      answer: statusWith(404, 'NotFound', { details: { name: 'b' } }),
      state: 'error',
      path: 1,
    },
    { what: 'NotFound with no name', answer: statusWith(404, 'NotFound', { details: {} }), state: 'error', path: 1 },
    { what: '404 as text', answer: { status: 404, body: '404 page not found' }, state: 'error', path: 1 },
    { what: '403', answer: statusWith(403, 'Forbidden'), state: 'error', path: 0 },
    { what: '410', answer: statusWith(410, 'Gone'), state: 'error', path: 0 },
    { what: 'an object without uid', answer: objectWith({ uid: '' }), state: 'error', path: 0 },
    { what: 'an object of another name', answer: objectWith({ name: 'b' }), state: 'error', path: 0 },
    { what: 'null', answer: { status: 200, body: 'null' }, state: 'error', path: 0 },
    { what: 'no JSON', answer: { status: 200, body: '<html>' }, state: 'error', path: 0 },
  ])('COL-114 COL-116 COL-156 $what is $state', async ({ answer, state, path }) => {
    const { context, pathsNotFound } = setUp([answer]);
    expect((await readMetadata(context, target)).state).toBe(state);
    expect(pathsNotFound()).toBe(path);
  });

  it('COL-172 leaves the namespace of cluster-scoped objects out of the path', () => {
    const { namespace, ...gvr } = resourceRefOf({ ...target, apiVersion: 'apps/v1', namespace: '' });
    expect(namespace).toBeUndefined();
    expect(gvr).toEqual({ gvr: { group: 'apps', version: 'v1', resource: 'configmaps' }, name: 'a' });
  });
});
