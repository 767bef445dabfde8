import { describe, expect, it } from 'vitest';
import {
  newAlreadyExists,
  newForbidden,
  newNamespaceTerminating,
  newNotFound,
  newPathNotFound,
  newServiceUnavailable,
  type StatusError,
} from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { createIfAbsent } from './create-if-absent.ts';

const things = { group: 'example.com', version: 'v1', resource: 'things' };
const namespaces = { group: '', resource: 'namespaces' };
const object = { metadata: { name: 'x' } };

function create(status: number, answer: object) {
  const handler = () =>
    Promise.resolve({
      status,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(answer)),
    });
  const client = new RestClient({ transport: inProcessTransport(handler), clock: new FakeClock(), userAgent: 'test' });
  return createIfAbsent(client, { ref: { gvr: things, namespace: 'n' }, object });
}
const refused = ({ code, status }: StatusError) => create(code, status);

describe('createIfAbsent', () => {
  it('hands over what was created', async () => {
    expect(await create(201, object)).toEqual({ outcome: 'created', object });
  });

  it.each([
    { name: 'it is there', error: newAlreadyExists(things, 'x'), outcome: 'exists' },
    {
      name: 'the one there is being deleted',
      error: newAlreadyExists(things, 'x', { terminating: true }),
      outcome: 'exists',
    },
    {
      name: 'LIFE-011 the namespace is terminating',
      error: newNamespaceTerminating(things, 'x', 'n'),
      outcome: 'namespace-going',
    },
    { name: 'the namespace is gone', error: newNotFound(namespaces, 'n'), outcome: 'namespace-going' },
  ])('takes it well that $name', async ({ error, outcome }) => {
    expect(await refused(error)).toEqual({ outcome });
  });

  it.each([
    { name: 'it may not', error: newForbidden(things, 'x', 'policy') },
    { name: 'the path is not there', error: newPathNotFound() },
    { name: 'the server cannot', error: newServiceUnavailable('not now') },
  ])('throws when $name', async ({ error }) => {
    await expect(refused(error)).rejects.toMatchObject({ status: error.status });
  });
});
