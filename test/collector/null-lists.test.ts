import { expect, it } from 'vitest';
import type { HttpResponse } from '../../src/base/http-message.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** kube-apiserver writes `null` for a metadata list of nothing, and leaves empty lists of metadata out. */
const nullLists: Interceptor = async (request, next) => {
  const response = await next(request);
  const type = String(response.headers['content-type'] ?? '');
  if (!(response.body instanceof Uint8Array) || !type.includes('json')) return response;
  return { ...response, body: Buffer.from(withNulls(Buffer.from(response.body).toString())) } satisfies HttpResponse;
};

function withNulls(json: string): string {
  return json.replaceAll('"items":[]', '"items":null').replaceAll('"resources":[]', '"resources":null');
}

const inJson: Interceptor = (request, next) =>
  next({
    ...request,
    headers: { ...request.headers, accept: String(request.headers['accept']).replace(/^[^,]*protobuf[^,]*,/, '') },
  });

it.each([
  ['protobuf', [nullLists]],
  ['JSON', [nullLists, inJson]],
] as const)(
  'BETTER-13 looks for late dependents of an orphaned owner although lists of nothing are null (%s)',
  async (_, weather) => {
    const rig = await Rig.start();
    rig.weather = (request, next) =>
      weather.reduceRight<typeof next>((inner, each) => (asked) => each(asked, inner), next)(request);
    await rig.startCollector();
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
    await rig.rest();
    await rig.delete(configMap, 'owner', 'Orphan');
    await rig.rest();
    expect(await rig.owners(secret, 'dependent')).toEqual([]);
    expect(await rig.get(configMap, 'owner')).toBeUndefined();
    expect(rig.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    await rig.stop();
  },
);
