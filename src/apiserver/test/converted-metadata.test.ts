import { describe, expect, it } from 'vitest';
import { decodeProtobuf, decodeTypedMessage } from '../../api/codec/protobuf/protobuf.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const autoscalers = (version: string): string =>
  `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

/** In `autoscaling/v1`, and only there, this annotation holds the fields that the version lacks. */
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

const autoscaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h', annotations: { own: '1' } },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    behavior: { scaleDown: { stabilizationWindowSeconds: 7 } },
  },
};

type Annotations = ObjectMeta['annotations'];

async function listed(server: TestServer, version: string): Promise<Annotations> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  const { json } = await server.get(autoscalers(version), { accept });
  return json.items[0]?.metadata?.annotations;
}

function objectOf(frame: Uint8Array, mediaType: string): KubeObject {
  if (mediaType === 'application/json')
    return (JSON.parse(Buffer.from(frame).toString()) as { object: KubeObject }).object;
  const { object } = decodeTypedMessage('apimachinery/pkg/apis/meta/v1.WatchEvent', frame.subarray(4));
  return object instanceof Uint8Array ? decodeProtobuf(object) : (object as KubeObject);
}

/** The annotations of the next events. Each event is a chunk of its own. */
async function watched(server: TestServer, version: string, form: { mediaType: string; meta: string }) {
  const controller = new AbortController();
  const accept = `${form.mediaType};as=PartialObjectMetadata;g=meta.k8s.io;v=${form.meta}`;
  const target = `${autoscalers(version)}?watch=1`;
  const { body } = await server.send('GET', target, { headers: { accept }, signal: controller.signal });
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const next = async (): Promise<Annotations> => {
    const { value } = await chunks.next();
    return objectOf(value as Uint8Array, form.mediaType).metadata?.annotations;
  };
  return { version, next, close: () => controller.abort() };
}

describe('metadata of a kind whose versions differ in it', () => {
  const forms = ['application/json', 'application/vnd.kubernetes.protobuf'].flatMap((mediaType) =>
    ['v1', 'v1beta1'].flatMap((meta) => [
      { mediaType, meta, first: 'v1', second: 'v2' },
      { mediaType, meta, first: 'v2', second: 'v1' },
    ]),
  );
  it.each(forms)(
    'API-024 $mediaType, $meta: watches of $first and $second at once send the same as a list of their version',
    async ({ first, second, ...form }) => {
      const server = await startTestServer();
      const watches = [await watched(server, first, form), await watched(server, second, form)];
      await server.post(autoscalers('v2'), autoscaler);
      const expectAsListed = async (): Promise<void> => {
        for (const { version, next } of watches) {
          const annotations = await next();
          expect(annotations).toEqual(await listed(server, version));
          expect(Object.hasOwn(annotations ?? {}, BEHAVIOR)).toBe(version === 'v1');
        }
      };
      await expectAsListed();
      await server.patch(`${autoscalers('v2')}/h`, { metadata: { annotations: { own: '2' } } });
      await expectAsListed();
      for (const watch of watches) watch.close();
    },
  );
});
