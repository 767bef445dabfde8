import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { RestClient } from '../rest/rest-client.ts';
import { serverVersion } from './server-version.ts';

function answering(status: number, text: string): RestClient {
  const handler = () => Promise.resolve({ status, headers: {}, body: Buffer.from(text) });
  return new RestClient({ transport: inProcessTransport(handler), clock: new FakeClock(), userAgent: 'test' });
}

describe('the version of a server', () => {
  it.each([
    { says: '{"major":"1","minor":"36","gitVersion":"v1.36.4"}', is: { major: 1, minor: 36 } },
    { says: '{"major":"1","minor":"27+"}', is: { major: 1, minor: 27 } },
    { says: '{"major":"1","minor":""}', is: undefined },
    { says: '{"gitVersion":"v1.36.4"}', is: undefined },
    { says: '{"major":1,"minor":36}', is: undefined },
    { says: 'null', is: undefined },
  ])('is $is when it says $says', async ({ says, is }) => {
    expect(await serverVersion(answering(200, says))).toEqual(is);
  });

  it('is an error when there is no answer to read', async () => {
    await expect(serverVersion(answering(200, 'hello'))).rejects.toThrow('not JSON');
    await expect(serverVersion(answering(404, 'hello'))).rejects.toMatchObject({ code: 404 });
  });
});
