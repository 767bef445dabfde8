import { refuse } from './faults.ts';
import type { Rig } from './rig.ts';

/** Lets the next list of a resource end at version 1, as after the restore of a backup. The test decides which objects are restored by then. */
export async function goBackInTime(rig: Rig, resource: string): Promise<void> {
  rig.faults.on({ target: new RegExp(`${resource}\\?.*resourceVersion=`) }, refuse(410, 'Expired'), 1);
  rig.faults.on(
    { target: new RegExp(`${resource}\\?.*sendInitialEvents=true`) },
    async (request, next) => {
      const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
      const response = await next({ ...request, headers: { ...request.headers, accept } });
      return { ...response, body: atVersionOne(response.body as AsyncIterable<Uint8Array>) };
    },
    1,
  );
  if (rig.streams.cut(new RegExp(resource)) !== 1) throw new Error(`${resource} is not watched once`);
  await rig.advance(10_000);
}

async function* atVersionOne(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    const text = Buffer.from(chunk).toString();
    yield Buffer.from(text.replaceAll(/("type":"BOOKMARK".*?"resourceVersion":")\d+"/g, '$11"'));
  }
}
