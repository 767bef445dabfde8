import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { RuntimeCallError } from '../inventory/runtime.ts';
import { CriRuntime } from './cri-runtime.ts';
import { runtimeOf } from './runtime.fixture.ts';
import { ContainerSchema, ImageSchema, ImageService, RuntimeService } from './runtime.generated.ts';
import { listedContainers, listedImages } from './listed-items.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function connected(
  images: Partial<ServiceImpl<typeof ImageService>>,
  containers: Partial<ServiceImpl<typeof RuntimeService>> = {},
  metrics = new MemoryMetrics(),
  timeoutMs = 60_000,
): Promise<CriRuntime> {
  const { endpoint, close } = await runtimeOf((router) => {
    router.service(ImageService, images);
    router.service(RuntimeService, containers);
  });
  const runtime = new CriRuntime({ endpoint, timeoutMs, clock: systemClock, metrics });
  closers.push(close, () => runtime.close());
  return runtime;
}

const image = (id: string, more: MessageInitShape<typeof ImageSchema> = {}) =>
  create(ImageSchema, { id, repoTags: [`localhost/${id}:1`], size: 7n, ...more });

describe('CriRuntime', () => {
  it('NODE-011, 012 reads every field of an image, and sizes beyond 2^53 exactly', () => {
    const said = image('a', {
      repoTags: ['localhost/a:1', 'localhost/b:ü'],
      repoDigests: ['localhost/a@sha256:1'],
      size: 18_446_744_073_709_551_615n,
      spec: { image: 'a', annotations: { key: 'value' }, runtimeHandler: 'kata' },
      pinned: true,
    });
    const bytes = toBinary(ImageSchema, said);
    const [read] = listedImages().read([bytes]);
    expect([read!.id, read!.runtimeHandler, read!.size, read!.pinned]).toEqual([
      'a',
      'kata',
      18_446_744_073_709_551_615n,
      true,
    ]);
    expect([read!.tags, read!.digests]).toEqual([['localhost/a:1', 'localhost/b:ü'], ['localhost/a@sha256:1']]);
    const sizes = [0n, 1n, 127n, 128n, 9_007_199_254_740_993n];
    expect(
      listedImages()
        .read(sizes.map((size) => toBinary(ImageSchema, image('x', { size }))))
        .map(({ size }) => size),
    ).toEqual(sizes);
  });

  it('NODE-014, 015 reads every field of a container, its pod from its labels, and its image from image_ref where image_id is empty', () => {
    const container = {
      id: 'c',
      podSandboxId: 's',
      metadata: { name: 'app', attempt: 3 },
      image: { image: 'localhost/app:1', runtimeHandler: 'kata' },
      imageRef: 'sha256:ref',
      state: 2,
      createdAt: 1_700_000_000_000_000_001n,
      labels: {
        'io.kubernetes.pod.uid': 'u',
        'io.kubernetes.pod.name': 'web-0',
        'io.kubernetes.pod.namespace': 'default',
        __proto__x: 'y',
      },
      annotations: { 'io.kubernetes.pod.terminationGracePeriod': '30' },
    };
    const read = (more: { readonly imageId?: string; readonly state?: number }) =>
      listedContainers().read([toBinary(ContainerSchema, create(ContainerSchema, { ...container, ...more }))])[0]!;
    const { id, sandboxId, name, attempt, podUid, podName, podNamespace, imageId, runtimeHandler, state } = read({});
    expect({ id, sandboxId, name, attempt, podUid, podName, podNamespace, imageId, runtimeHandler, state }).toEqual({
      id: 'c',
      sandboxId: 's',
      name: 'app',
      attempt: 3,
      podUid: 'u',
      podName: 'web-0',
      podNamespace: 'default',
      imageId: 'sha256:ref',
      runtimeHandler: 'kata',
      state: 'exited',
    });
    expect(read({}).createdAt).toBe(1_700_000_000_000_000_001n);
    expect({ ...read({}).annotations }).toEqual({ 'io.kubernetes.pod.terminationGracePeriod': '30' });
    expect(read({ imageId: 'sha256:id' }).imageId).toBe('sha256:id');
    expect([0, 1, 2, 3, 9].map((state) => read({ state }).state)).toEqual([
      'created',
      'running',
      'exited',
      'unknown',
      'unknown',
    ]);
  });

  it('NODE-019 takes an item that is no message for a failed call', () => {
    expect(() => listedImages().read([Uint8Array.of(0x0a, 0xff)])).toThrow('proto: unexpected EOF');
    // A label whose own length is wrong is found when it is read.
    const [container] = listedContainers().read([Uint8Array.of(0x42, 0x02, 0x0a, 0x7f)]);
    expect(() => container!.podUid).toThrow(RuntimeCallError);
  });

  it('NODE-013 reads a list of more than 16 MiB in one answer', async () => {
    const images = ['a', 'b'].map((id) => image(id, { repoTags: ['x'.repeat(9 << 20)] }));
    const runtime = await connected({ listImages: () => ({ images }) });
    expect((await runtime.listImages()).map(({ id, tags }) => [id, tags[0]!.length])).toEqual([
      ['a', 9 << 20],
      ['b', 9 << 20],
    ]);
  });

  it('NODE-230 reads streams where the runtime has them, else lists, and asks for the stream once', async () => {
    let asked = 0;
    const streaming = await connected(
      {
        async *streamImages() {
          yield { images: [image('a'), image('b')] };
          yield { images: [image('c')] };
        },
        listImages: () => {
          throw new ConnectError('too much', Code.ResourceExhausted);
        },
      },
      {
        async *streamContainers() {
          asked++;
          yield* [];
          throw new ConnectError('not here', Code.Unimplemented);
        },
        listContainers: () => ({ containers: [{ id: 'c' }] }),
      },
    );
    expect((await streaming.listImages()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    for (let time = 0; time < 2; time++) expect((await streaming.listContainers()).map(({ id }) => id)).toEqual(['c']);
    expect(asked).toBe(1);
  });

  it('NODE-019 says which call was not answered, and within which time', async () => {
    const silent = (): Promise<never> => new Promise<never>(() => undefined);
    const runtime = await connected({ listImages: silent }, { listContainers: silent }, new MemoryMetrics(), 50);
    await expect(runtime.listImages()).rejects.toMatchObject({
      failure: 'unreachable',
      message: 'no answer to list_images within 50ms: context deadline exceeded',
    });
    await expect(runtime.listContainers()).rejects.toThrow('no answer to list_containers within 50ms');
  });

  it('NODE-135 counts calls, their failures and their time by the names that the kubelet has for them', async () => {
    const metrics = new MemoryMetrics();
    const runtime = await connected(
      {
        listImages: () => ({ images: [] }),
        removeImage: () => {
          throw new ConnectError('it is busy', Code.Internal);
        },
      },
      {},
      metrics,
    );
    await runtime.listImages();
    await expect(runtime.removeImage('a', '')).rejects.toThrow('it is busy');
    const total = (name: string, operation: string): number =>
      metrics.value(`kubegc_node_runtime_operations_${name}`, { operation }) ?? 0;
    expect([total('total', 'remove_image'), total('errors_total', 'remove_image')]).toEqual([1, 1]);
    expect([total('total', 'list_images'), total('errors_total', 'list_images')]).toEqual([2, 0]);
  });

  it('NODE-212 reads the labels of an image from the verbose status, where the runtime reports its configuration', async () => {
    const infos: Readonly<Record<string, Record<string, string>>> = {
      labelled: { info: JSON.stringify({ chainID: 'c', imageSpec: { config: { Labels: { app: 'web' } } } }) },
      plain: { info: JSON.stringify({ imageSpec: { config: {} } }) },
      silent: {},
      odd: { info: 'no JSON' },
      broken: { info: JSON.stringify({ imageSpec: { config: { Labels: ['app'] } } }) },
    };
    const runtime = await connected({
      imageStatus: ({ image: asked, verbose }) => {
        const info = infos[asked!.image];
        return info === undefined ? {} : { image: image(asked!.image), info: verbose ? info : {} };
      },
    });
    const read = async (id: string) => [id, await runtime.imageLabels(id)];
    expect(await Promise.all([...Object.keys(infos), 'missing'].map(read))).toEqual([
      ['labelled', { app: 'web' }],
      ['plain', {}],
      ['silent', undefined],
      ['odd', undefined],
      ['broken', undefined],
      ['missing', undefined],
    ]);
  });

  it('NODE-230 returns the same objects for a long list that is streamed in parts again', async () => {
    const images = Array.from({ length: 1500 }, (_, n) => image(`image ${n}`));
    const runtime = await connected({
      async *streamImages() {
        for (let from = 0; from < images.length; from += 10) yield { images: images.slice(from, from + 10) };
      },
    });
    const first = await runtime.listImages();
    expect(first).toHaveLength(1500);
    expect((await runtime.listImages()).every((each, n) => each === first[n])).toBe(true);
  });

  it('NODE-230 throws away a stream that breaks off', async () => {
    const runtime = await connected({
      async *streamImages() {
        yield { images: [image('a')] };
        throw new ConnectError('the disk is gone', Code.Internal);
      },
    });
    await expect(runtime.listImages()).rejects.toThrow('the disk is gone');
  });
});
