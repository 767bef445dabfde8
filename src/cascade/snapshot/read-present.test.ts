import { expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { readPresent } from './read-present.ts';

it('CAS-050 reads objects of many namespaces with at most 16 requests at once', async () => {
  let underWay = 0;
  let most = 0;
  const handler = async ({ target }: HttpRequest): Promise<HttpResponse> => {
    most = Math.max(most, ++underWay);
    await Promise.resolve();
    await Promise.resolve();
    underWay--;
    const uid = /namespaces\/(\w+)/.exec(target)![1];
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ metadata: { uid } })) };
  };
  const transport = inProcessTransport(handler);
  const client = new RestClient({ transport, clock: new FakeClock(), userAgent: 'test' });
  const refs = Array.from({ length: 60 }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespace: `n${i}`,
    name: 'settings',
    uid: `n${i}`,
  }));
  const present = await readPresent(client, refs, undefined);
  expect(present.map(({ ref }) => ref)).toEqual(refs);
  expect(most).toBe(16);
  expect(await readPresent(client, [], undefined)).toEqual([]);
});
