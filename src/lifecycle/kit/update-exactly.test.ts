import { describe, expect, it } from 'vitest';
import { newConflict, newForbidden, newNotFound, newPathNotFound, type StatusError } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { updateExactly } from './update-exactly.ts';

const gvr = { group: 'example.com', version: 'v1', resource: 'things' };
const { signal } = new AbortController();

/** The update of an object in a server that answers so, and the requests that reached it. */
async function update(
  metadata: object,
  answer: { readonly status: number; readonly body: object },
  subresource?: 'status',
) {
  const requests: string[] = [];
  const handler = ({ method = '', target = '' }) => {
    requests.push(`${method} ${target}`);
    const body = Buffer.from(JSON.stringify(answer.body));
    return Promise.resolve({ status: answer.status, headers: { 'content-type': 'application/json' }, body });
  };
  const client = new RestClient({ transport: inProcessTransport(handler), clock: new FakeClock(), userAgent: 'test' });
  const options = { gvr, object: { metadata }, signal, ...(subresource === undefined ? {} : { subresource }) };
  return { result: await updateExactly(client, options), requests };
}
const refused = ({ code, status }: StatusError) => update({ name: 'x' }, { status: code, body: status });

describe('updateExactly', () => {
  it('replaces the object or its status, in a namespace or without, and hands over the answer', async () => {
    const body = { metadata: { name: 'x', resourceVersion: '2' } };
    const answer = { status: 200, body };
    const path = '/apis/example.com/v1';
    expect(await update({ name: 'x' }, answer)).toEqual({ result: body, requests: [`PUT ${path}/things/x`] });
    expect(await update({ name: 'x', namespace: 'n' }, answer, 'status')).toEqual({
      result: body,
      requests: [`PUT ${path}/namespaces/n/things/x/status`],
    });
  });

  it.each([
    { name: 'it is gone', error: newNotFound(gvr, 'x'), result: 'gone' },
    { name: 'another client was faster', error: newConflict(gvr, 'x'), result: 'changed' },
  ])('returns that $name', async ({ error, result }) => {
    expect((await refused(error)).result).toBe(result);
  });

  it.each([
    { name: 'it may not', error: newForbidden(gvr, 'x', 'policy') },
    { name: 'another object is gone', error: newNotFound(gvr, 'y') },
    { name: 'the path is not there', error: newPathNotFound() },
  ])('throws when $name', async ({ error }) => {
    await expect(refused(error)).rejects.toMatchObject({ status: error.status });
  });
});
