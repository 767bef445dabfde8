import { createClient, type Client } from '@connectrpc/connect';
import { callError, isMissing, isUnimplemented, UnixGrpc } from '../cri/unix-grpc.ts';
import { Containers } from './containers.generated.ts';
import { Content } from './content.generated.ts';
import { type ImageLabels, labelsOfConfiguration } from '../patterns/image-labels.ts';
import { gcReferences } from './gc-labels.ts';
import { type Image, Images, type Timestamp } from './images.generated.ts';
import { Leases } from './leases.generated.ts';
import { Snapshots } from './snapshots.generated.ts';

/** A blob of the content store. Its labels name the blobs and snapshots that it refers to. */
export interface Blob {
  readonly digest: string;
  readonly size: bigint;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Snapshot {
  readonly snapshotter: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly parent: string;
  /** True for a layer of an image, false for the writable snapshot of a container. */
  readonly committed: boolean;
  /** 0 for a writable snapshot: its size changes, and measuring it reads the whole directory. */
  readonly size: bigint;
}

/** A name that containerd's own store gives to an image. */
export interface ImageEntry {
  readonly name: string;
  readonly target: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When the entry was last written, in nanoseconds since the epoch; 0 where that is unknown. */
  readonly writtenAt: bigint;
}

/** A container in containerd's own store. It holds its writable snapshot. */
export interface ContainerEntry {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly snapshotter: string;
  readonly snapshotKey: string;
}

/** A lease: it holds the pieces of an image that is being pulled or unpacked. */
export interface LeaseEntry {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `content` with a digest, or `snapshots/NAME` with a key. */
  readonly resources: readonly { readonly type: string; readonly id: string }[];
}

/** The images that containerd keeps for Kubernetes, with their pieces. Sizes in bytes. */
export interface ImageContent {
  readonly blobs: readonly Blob[];
  readonly snapshots: readonly Snapshot[];
  readonly images: readonly ImageEntry[];
}

/** Everything that containerd keeps for Kubernetes: also the holders of pieces that belong to no image. */
export interface ContainerdContent extends ImageContent {
  readonly containers: readonly ContainerEntry[];
  readonly leases: readonly LeaseEntry[];
}

const COMMITTED = 3;
/** The namespace in which the CRI plugin keeps everything. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };
/** A blob of more bytes is not read: configurations of images have a few KiB. */
const CONFIGURATION_LIMIT = 4 << 20;
/** Maximum number of concurrent requests for snapshot sizes. */
const AT_ONCE = 16;

/** Reads containerd's own services, which answer on the same socket. The size of a layer never changes, so it is requested once. */
export class ContainerdReader {
  readonly #grpc: UnixGrpc;
  readonly #containers: Client<typeof Containers>;
  readonly #content: Client<typeof Content>;
  readonly #images: Client<typeof Images>;
  readonly #leases: Client<typeof Leases>;
  readonly #snapshots: Client<typeof Snapshots>;
  readonly #timeoutMs: number;
  #sizes = new Map<string, bigint>();

  constructor({ endpoint, timeoutMs }: { readonly endpoint: string; readonly timeoutMs: number }) {
    this.#grpc = new UnixGrpc(endpoint);
    this.#timeoutMs = timeoutMs;
    this.#containers = createClient(Containers, this.#grpc.transport);
    this.#content = createClient(Content, this.#grpc.transport);
    this.#images = createClient(Images, this.#grpc.transport);
    this.#leases = createClient(Leases, this.#grpc.transport);
    this.#snapshots = createClient(Snapshots, this.#grpc.transport);
  }

  close(): void {
    this.#grpc.close();
  }

  /**
   * Reads the images and their pieces. Images are read before their pieces, so every image that was there when the read began comes with all
   * of them, also while another image is being pulled.
   * @returns undefined when the runtime is not containerd
   * @throws RuntimeCallError when it does not answer
   */
  async read(): Promise<ImageContent | undefined> {
    return await ifContainerd(this.#timeoutMs, async () => {
      const images = await this.#readImages();
      const blobs = await this.#readBlobs();
      return { images, blobs, snapshots: await this.#readAllSnapshots(snapshottersOf(blobs)) };
    });
  }

  /**
   * Reads the images and also all other holders of pieces. A piece that is being pulled always appears with its holder. For that, pieces are
   * read before their holders, and leases before images and containers: a lease ends only after an image or a container has taken over its
   * pieces.
   * @returns undefined when the runtime is not containerd
   * @throws RuntimeCallError when it does not answer
   */
  async readWithHolders(): Promise<ContainerdContent | undefined> {
    return await ifContainerd(this.#timeoutMs, async () => {
      const blobs = await this.#readBlobs();
      const snapshotters = snapshottersOf(blobs);
      for (const { snapshotter } of await this.#readContainers()) if (snapshotter !== '') snapshotters.add(snapshotter);
      const snapshots = await this.#readAllSnapshots(snapshotters);
      const leases = await this.#readLeases();
      const images = await this.#readImages();
      return { blobs, snapshots, leases, images, containers: await this.#readContainers() };
    });
  }

  /**
   * Reads only the names of images. Empty when the runtime is not containerd.
   * @throws RuntimeCallError
   */
  async readEntries(): Promise<ImageEntry[]> {
    try {
      return await this.#readImages();
    } catch (error) {
      if (isUnimplemented(error)) return [];
      throw callError('containerd_images', error, this.#timeoutMs);
    }
  }

  /**
   * Reads the labels of an image from its configuration.
   * @param id digest of the configuration
   * @returns undefined when there is no such blob, or when it is not the configuration of an image
   * @throws RuntimeCallError
   */
  async readLabels(id: string): Promise<ImageLabels | undefined> {
    const parts: Uint8Array[] = [];
    let size = 0;
    try {
      const options = { headers: NAMESPACE, timeoutMs: this.#timeoutMs };
      for await (const { data } of this.#content.read({ digest: id }, options)) {
        size += data.length;
        if (size > CONFIGURATION_LIMIT) return undefined;
        parts.push(data);
      }
    } catch (error) {
      if (isMissing(error) || isUnimplemented(error)) return undefined;
      throw callError('containerd_content', error, this.#timeoutMs);
    }
    return labelsOfConfiguration(Buffer.concat(parts).toString());
  }

  /** Removes a name of an image, and waits until the pieces that only this name held are removed. */
  async removeEntry(name: string): Promise<void> {
    try {
      await this.#images.delete({ name, sync: true }, { headers: NAMESPACE });
    } catch (error) {
      if (isMissing(error)) return;
      throw callError('containerd_remove_image', error);
    }
  }

  /**
   * Current size of one snapshot in bytes; 0 when it no longer exists.
   * @throws RuntimeCallError
   */
  async readSize(snapshotter: string, key: string): Promise<bigint> {
    try {
      return (await this.#usage(snapshotter, key)) ?? 0n;
    } catch (error) {
      throw callError('containerd_content', error, this.#timeoutMs);
    }
  }

  /** Undefined when the snapshot no longer exists. */
  async #usage(snapshotter: string, key: string): Promise<bigint | undefined> {
    try {
      return (await this.#snapshots.usage({ snapshotter, key }, { headers: NAMESPACE, timeoutMs: this.#timeoutMs }))
        .size;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #readBlobs(): Promise<Blob[]> {
    const blobs: Blob[] = [];
    const answers = this.#content.list({}, { headers: NAMESPACE, timeoutMs: this.#timeoutMs });
    for await (const { info } of answers) for (const each of info) blobs.push(each);
    return blobs;
  }

  async #readImages(): Promise<ImageEntry[]> {
    const { images } = await this.#images.list({}, { headers: NAMESPACE, timeoutMs: this.#timeoutMs });
    return images.map(entryOf);
  }

  async #readContainers(): Promise<ContainerEntry[]> {
    const { containers } = await this.#containers.list({}, { headers: NAMESPACE, timeoutMs: this.#timeoutMs });
    return containers;
  }

  async #readLeases(): Promise<LeaseEntry[]> {
    const options = { headers: NAMESPACE, timeoutMs: this.#timeoutMs };
    const { leases } = await this.#leases.list({}, options);
    const entries: LeaseEntry[] = [];
    for (const { id, labels } of leases) {
      try {
        entries.push({ id, labels, resources: (await this.#leases.listResources({ id }, options)).resources });
      } catch (error) {
        // The lease ended between the two calls, so an image or a container holds its pieces now.
        if (!isMissing(error)) throw error;
      }
    }
    return entries;
  }

  async #readAllSnapshots(snapshotters: Iterable<string>): Promise<Snapshot[]> {
    const snapshots: Snapshot[] = [];
    for (const snapshotter of snapshotters)
      for (const each of await this.#readSnapshots(snapshotter)) snapshots.push(each);
    return snapshots;
  }

  async #readSnapshots(snapshotter: string): Promise<Snapshot[]> {
    const options = { headers: NAMESPACE, timeoutMs: this.#timeoutMs };
    const listed: Omit<Snapshot, 'size'>[] = [];
    for await (const { info } of this.#snapshots.list({ snapshotter }, options)) {
      for (const { name, parent, kind, labels } of info)
        listed.push({ snapshotter, name, parent, labels, committed: kind === COMMITTED });
    }
    const sizes = new Map<string, bigint>();
    const unknown = listed.filter(({ name, committed }) => {
      const known = this.#sizes.get(`${snapshotter}/${name}`);
      if (known !== undefined) sizes.set(name, known);
      return committed && known === undefined;
    });
    const ask = async (): Promise<void> => {
      for (let next = unknown.pop(); next !== undefined; next = unknown.pop()) {
        const size = await this.#usage(snapshotter, next.name);
        if (size !== undefined) sizes.set(next.name, size);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    for (const [name, size] of sizes) this.#sizes.set(`${snapshotter}/${name}`, size);
    const there = new Set(listed.map(({ name }) => `${snapshotter}/${name}`));
    for (const key of this.#sizes.keys()) {
      if (key.startsWith(`${snapshotter}/`) && !there.has(key)) this.#sizes.delete(key);
    }
    return listed.map((each) => ({ ...each, size: sizes.get(each.name) ?? 0n }));
  }
}

async function ifContainerd<T>(timeoutMs: number, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isUnimplemented(error)) return undefined;
    throw callError('containerd_content', error, timeoutMs);
  }
}

function entryOf({ name, target, labels, createdAt, updatedAt }: Image): ImageEntry {
  const time = (at: Timestamp | undefined): bigint => (at?.seconds ?? 0n) * 1_000_000_000n + BigInt(at?.nanos ?? 0);
  const [created, updated] = [time(createdAt), time(updatedAt)];
  return { name, target: target?.digest ?? '', labels, writtenAt: created > updated ? created : updated };
}

/** The snapshotters of all images: the labels of their blobs name them. */
function snapshottersOf(blobs: readonly Blob[]): Set<string> {
  return new Set(
    blobs.flatMap(({ labels }) =>
      gcReferences(labels).flatMap((each) => (each.kind === 'snapshot' ? [each.snapshotter] : [])),
    ),
  );
}
