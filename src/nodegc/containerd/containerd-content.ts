import { createClient, type Client } from '@connectrpc/connect';
import { Code, ConnectError } from '@connectrpc/connect';
import { callError, UnixGrpc } from '../cri/unix-grpc.ts';
import { Content } from './content.generated.ts';
import { type Image, Images, type Timestamp } from './images.generated.ts';
import { Snapshots } from './snapshots.generated.ts';

/** A blob of the content store, with what it refers to. */
export interface Blob {
  readonly digest: string;
  readonly size: bigint;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Snapshot {
  readonly name: string;
  readonly parent: string;
  /** True for an image's layer, false for the writable one of a container. */
  readonly committed: boolean;
  readonly size: bigint;
}

/** A name of an image in containerd's own store. */
export interface ImageEntry {
  readonly name: string;
  readonly target: string;
  /** When it was last written, nanoseconds since the epoch; 0 where that is unknown. */
  readonly writtenAt: bigint;
}

/** Everything that containerd keeps for Kubernetes. Sizes in bytes. */
export interface ContainerdContent {
  readonly blobs: readonly Blob[];
  readonly snapshots: readonly Snapshot[];
  readonly images: readonly ImageEntry[];
}

const COMMITTED = 3;
/** Where the CRI plugin keeps everything. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };
/** Questions for sizes of snapshots under way at once. */
const AT_ONCE = 16;
const SNAPSHOT_LABEL = /^containerd\.io\/gc\.ref\.snapshot\.(.+)$/;

/** Reads containerd's own services, which are behind the same socket. Sizes of layers never change, so they are asked for once. */
export class ContainerdReader {
  readonly #grpc: UnixGrpc;
  readonly #content: Client<typeof Content>;
  readonly #images: Client<typeof Images>;
  readonly #snapshots: Client<typeof Snapshots>;
  readonly #timeoutMs: number;
  #sizes = new Map<string, bigint>();

  constructor({ endpoint, timeoutMs }: { readonly endpoint: string; readonly timeoutMs: number }) {
    this.#grpc = new UnixGrpc(endpoint);
    this.#timeoutMs = timeoutMs;
    this.#content = createClient(Content, this.#grpc.transport);
    this.#images = createClient(Images, this.#grpc.transport);
    this.#snapshots = createClient(Snapshots, this.#grpc.transport);
  }

  close(): void {
    this.#grpc.close();
  }

  /** Undefined when the runtime is no containerd. @throws RuntimeCallError when it does not answer */
  async read(): Promise<ContainerdContent | undefined> {
    const options = { headers: NAMESPACE, timeoutMs: this.#timeoutMs };
    try {
      const { images } = await this.#images.list({}, options);
      const blobs: Blob[] = [];
      for await (const { info } of this.#content.list({}, options)) for (const each of info) blobs.push(each);
      const snapshotters = new Set(blobs.flatMap(({ labels }) => Object.keys(labels).flatMap(snapshotterOf)));
      let snapshots: Snapshot[] = [];
      for (const snapshotter of snapshotters) snapshots = [...snapshots, ...(await this.#readSnapshots(snapshotter))];
      return { blobs, snapshots, images: images.map(entryOf) };
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.Unimplemented) return undefined;
      throw callError('containerd_content', error);
    }
  }

  /** Names of images alone. Empty when the runtime is no containerd. @throws RuntimeCallError */
  async readEntries(): Promise<ImageEntry[]> {
    try {
      const { images } = await this.#images.list({}, { headers: NAMESPACE, timeoutMs: this.#timeoutMs });
      return images.map(entryOf);
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.Unimplemented) return [];
      throw callError('containerd_images', error);
    }
  }

  /** Removes a name of an image, and waits until what only it held is gone. */
  async removeEntry(name: string): Promise<void> {
    try {
      await this.#images.delete({ name, sync: true }, { headers: NAMESPACE });
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.NotFound) return;
      throw callError('containerd_remove_image', error);
    }
  }

  async #readSnapshots(snapshotter: string): Promise<Snapshot[]> {
    const options = { headers: NAMESPACE, timeoutMs: this.#timeoutMs };
    const listed: { name: string; parent: string; committed: boolean }[] = [];
    for await (const { info } of this.#snapshots.list({ snapshotter }, options)) {
      for (const { name, parent, kind } of info) listed.push({ name, parent, committed: kind === COMMITTED });
    }
    const sizes = new Map<string, bigint>();
    const unknown = listed.filter(({ name, committed }) => {
      const known = this.#sizes.get(`${snapshotter}/${name}`);
      if (known !== undefined) sizes.set(name, known);
      return committed && known === undefined;
    });
    const ask = async (): Promise<void> => {
      for (let next = unknown.pop(); next !== undefined; next = unknown.pop()) {
        const { name } = next;
        try {
          const { size } = await this.#snapshots.usage({ snapshotter, key: name }, options);
          sizes.set(name, size);
        } catch (error) {
          // It went between the list and the question.
          if (!(error instanceof ConnectError && error.code === Code.NotFound)) throw error;
        }
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

function entryOf({ name, target, createdAt, updatedAt }: Image): ImageEntry {
  const time = (at: Timestamp | undefined): bigint => (at?.seconds ?? 0n) * 1_000_000_000n + BigInt(at?.nanos ?? 0);
  const [created, updated] = [time(createdAt), time(updatedAt)];
  return { name, target: target?.digest ?? '', writtenAt: created > updated ? created : updated };
}

function snapshotterOf(label: string): string[] {
  const name = SNAPSHOT_LABEL.exec(label)?.[1];
  // A second reference of one snapshotter has a number behind it.
  return name === undefined ? [] : [name.replace(/[./].*$/, '')];
}
