import { afterEach, expect, it } from 'vitest';
import { jsonOnly } from '../../src/cli/collect/collect-content-type.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { Rig } from './rig.ts';

let rig: Rig;
afterEach(() => rig.stop());

/** The content types in which the server answered the lists and watches of a collector, behind `ask`. */
async function answered(ask: Interceptor): Promise<readonly string[]> {
  const types = new Set<string>();
  const note: Interceptor = async (request, next) => {
    const response = await next(request);
    if (request.target.includes('sendInitialEvents'))
      types.add(String(response.headers['content-type']).split(';')[0]!);
    return response;
  };
  rig = await Rig.start();
  rig.weather = (request, next) => ask(request, (asked) => note(asked, next));
  await rig.startCollector();
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
  await rig.delete(configMap, 'owner');
  await rig.rest();
  expect(await rig.names(secret)).toEqual([]);
  return [...types];
}

it('COL-040 COL-200 what a collector watches comes in protobuf', async () => {
  expect(await answered((request, next) => next(request))).toEqual(['application/vnd.kubernetes.protobuf']);
});

it('COL-200 with --kube-api-content-type=application/json it comes in JSON, metadata only, and is collected all the same', async () => {
  const accepted = new Set<unknown>();
  const types = await answered((request, next) =>
    jsonOnly(request, (asked) => {
      accepted.add(asked.headers['accept']);
      return next(asked);
    }),
  );
  expect(types).toEqual(['application/json']);
  expect([...accepted].filter((accept) => String(accept).includes('protobuf'))).toEqual([]);
  expect([...accepted]).toContain('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json');
});
