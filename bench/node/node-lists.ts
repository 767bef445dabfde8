import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { ListContainersResponseSchema, ListImagesResponseSchema } from '../../src/nodegc/cri/runtime.generated.ts';

const hex = (text: string): string => createHash('sha256').update(text).digest('hex');
const NOW = 1_790_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

export interface NodeLists {
  /** Answers of a runtime, as they come over the socket. */
  readonly images: Uint8Array;
  readonly containers: Uint8Array;
  readonly ids: readonly string[];
  readonly sizes: readonly bigint[];
  /** The memory of a process that has run for days. Every fourth image was never used. */
  readonly memory: ReadonlyMap<string, { readonly firstDetected: bigint; readonly lastUsed: bigint | undefined }>;
  readonly now: bigint;
}

/** Lists in the shape that containerd gives them. The first images are in use, one container each; one in ten containers is dead. */
export function nodeLists(count: number, inUse: number, dead: (container: number) => boolean): NodeLists {
  const images = Array.from({ length: count }, (_, n) => ({
    id: `sha256:${hex(`image ${n}`)}`,
    repoTags: [`registry.example.com/team-${n % 40}/application-${n % 700}:v1.${n}`],
    repoDigests: [`registry.example.com/team-${n % 40}/application-${n % 700}@sha256:${hex(`digest ${n}`)}`],
    size: BigInt(5_000_000 + ((n * 7919) % 90_000_000)),
    spec: {},
  }));
  const containers = Array.from({ length: inUse }, (_, n) => ({
    id: hex(`container ${n}`),
    podSandboxId: hex(`sandbox ${n}`),
    metadata: { name: 'app', attempt: 0 },
    image: { image: images[n]!.id },
    imageRef: images[n]!.id,
    state: dead(n) ? 2 : 1,
    createdAt: NOW - BigInt(n) * SECOND,
    labels: {
      'io.kubernetes.container.name': 'app',
      'io.kubernetes.pod.name': `web-${n >> 1}`,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': hex(`pod ${n >> 1}`).slice(0, 36),
    },
    annotations: {
      'io.kubernetes.container.hash': '8a83a3b2',
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    },
  }));
  const memory = new Map(
    images.map(({ id }, n) => {
      const firstDetected = NOW - 40n * 86_400n * SECOND + BigInt((n * 104_729) % 1_000_000) * SECOND;
      const used = n % 4 === 0 ? undefined : firstDetected + BigInt((n * 7907) % 900_000) * SECOND;
      return [id, { firstDetected, lastUsed: used }] as const;
    }),
  );
  return {
    images: toBinary(ListImagesResponseSchema, create(ListImagesResponseSchema, { images })),
    containers: toBinary(ListContainersResponseSchema, create(ListContainersResponseSchema, { containers })),
    ids: images.map(({ id }) => id),
    sizes: images.map(({ size }) => size),
    memory,
    now: NOW,
  };
}
