import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeCallError } from '../inventory/runtime.ts';
import { listedContainers, listedImages } from './listed-items.ts';
import { ItemsSchema } from './lists.generated.ts';
import {
  ContainerSchema,
  ImageSchema,
  ListContainersResponseSchema,
  ListImagesResponseSchema,
} from './runtime.generated.ts';

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '7', '\0', 'ü', '€', '😀'), maxLength: 90 }),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((hash) => Buffer.from(hash).toString('hex')),
);
const map = fc.dictionary(text, text, { maxKeys: 4 });
const uint64 = fc.bigInt(0n, 2n ** 64n - 1n);
const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const uint32 = fc.nat(2 ** 32 - 1);
const spec = fc.option(fc.record({ image: text, annotations: map, userSpecifiedImage: text, runtimeHandler: text }), {
  nil: undefined,
});
const image = fc.record({
  id: text,
  repoTags: fc.array(text, { maxLength: 3 }),
  repoDigests: fc.array(text, { maxLength: 3 }),
  size: uint64,
  spec,
  pinned: fc.boolean(),
});
const container = fc.record({
  id: text,
  podSandboxId: text,
  metadata: fc.option(fc.record({ name: text, attempt: uint32 }), { nil: undefined }),
  image: spec,
  imageRef: text,
  state: fc.nat(5),
  createdAt: int64,
  labels: map,
  annotations: map,
  imageId: text,
});
/** Fields that no version of CRI has yet: a varint, 8 bytes, a text, and 4 bytes. */
const unknownFields = fc.array(
  fc.constantFrom(
    [0xf8, 0x07, 0x96, 0x01],
    [0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8],
    [0xfa, 0x07, 2, 0x68, 0x69],
    [0xfd, 0x07, 1, 2, 3, 4],
  ),
  { maxLength: 2 },
);
const joined = (...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))));

describe('reading lists of a runtime', () => {
  it('NODE-011, 012 reads an image as the generated decoder does, and passes over fields that it does not know', () => {
    const images = listedImages();
    fc.assert(
      fc.property(image, unknownFields, unknownFields, (fields, before, after) => {
        const bytes = joined(before.flat(), toBinary(ImageSchema, create(ImageSchema, fields)), after.flat());
        const expected = fromBinary(ImageSchema, bytes);
        const [read] = images.read([bytes]);
        const { id, runtimeHandler, size, pinned, tags, digests } = read!;
        expect({ id, runtimeHandler, size, pinned, tags, digests }).toEqual({
          id: expected.id,
          runtimeHandler: expected.spec?.runtimeHandler ?? '',
          size: expected.size,
          pinned: expected.pinned,
          tags: expected.repoTags,
          digests: expected.repoDigests,
        });
      }),
    );
  });

  it('NODE-011, 014, 015 reads a container as the generated decoder does', () => {
    const containers = listedContainers();
    fc.assert(
      fc.property(container, unknownFields, (fields, after) => {
        const bytes = joined(toBinary(ContainerSchema, create(ContainerSchema, fields)), after.flat());
        const expected = fromBinary(ContainerSchema, bytes);
        const [read] = containers.read([bytes]);
        expect({
          id: read!.id,
          sandboxId: read!.sandboxId,
          name: read!.name,
          attempt: read!.attempt,
          imageId: read!.imageId,
          runtimeHandler: read!.runtimeHandler,
          state: read!.state,
          createdAt: read!.createdAt,
          podUid: read!.podUid,
          annotations: { ...read!.annotations },
        }).toEqual({
          id: expected.id,
          sandboxId: expected.podSandboxId,
          name: expected.metadata?.name ?? '',
          attempt: expected.metadata?.attempt ?? 0,
          imageId: expected.imageId === '' ? expected.imageRef : expected.imageId,
          runtimeHandler: expected.image?.runtimeHandler ?? '',
          state: ['created', 'running', 'exited'][expected.state] ?? 'unknown',
          createdAt: expected.createdAt,
          podUid: expected.labels['io.kubernetes.pod.uid'] ?? '',
          annotations: expected.annotations,
        });
      }),
    );
  });

  it('NODE-011 splits an answer into the items that the generated decoder finds', () => {
    fc.assert(
      fc.property(fc.array(image, { maxLength: 5 }), fc.array(container, { maxLength: 5 }), (images, containers) => {
        const imageBytes = toBinary(ListImagesResponseSchema, create(ListImagesResponseSchema, { images }));
        const containerBytes = toBinary(
          ListContainersResponseSchema,
          create(ListContainersResponseSchema, { containers }),
        );
        const [ids, containerIds] = [
          listedImages()
            .read(fromBinary(ItemsSchema, imageBytes).items)
            .map(({ id }) => id),
          listedContainers()
            .read(fromBinary(ItemsSchema, containerBytes).items)
            .map(({ id }) => id),
        ];
        expect([ids, containerIds]).toEqual([images.map(({ id }) => id), containers.map(({ id }) => id)]);
      }),
    );
  });

  it('NODE-011, 019 fails where the generated decoder fails, and reads nothing beyond an item', () => {
    const full = toBinary(
      ImageSchema,
      create(ImageSchema, { id: `sha256:${'a'.repeat(64)}`, repoTags: ['localhost/app:1'], size: 300n, pinned: true }),
    );
    const fails = (work: () => unknown): boolean => {
      try {
        work();
        return false;
      } catch (error) {
        // The names are decoded when they are first read. An error then is the error of the call that returned them.
        if (!(error instanceof RuntimeCallError)) expect(error).toMatchObject({ message: expect.stringMatching(/./) });
        return true;
      }
    };
    for (let length = 0; length <= full.length; length++) {
      const within = new Uint8Array(full);
      const part = within.subarray(0, length);
      const theirs = fails(() => fromBinary(ImageSchema, part));
      const ours = fails(() =>
        listedImages()
          .read([part])
          .map(({ id, tags, digests }) => [id, tags, digests]),
      );
      expect([length, ours]).toEqual([length, theirs]);
    }
  });
});
