import { SharedBytes } from '../images/shared-bytes.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { DiskReading } from '../images/thresholds.ts';
import {
  type ContainerState,
  type Runtime,
  type RuntimeContainer,
  type RuntimeContainerStatus,
  type RuntimeImage,
  type RuntimeInfo,
  type RuntimeSandbox,
} from '../inventory/runtime.ts';

export interface SimulatedImage {
  readonly id: string;
  readonly tags: readonly string[];
  /** The sizes of the layers on the disk in bytes, by layer id. Images share layers that have the same id. */
  readonly layers: ReadonlyMap<string, number>;
  /** The size that the runtime reports; the sum of its layers unless given. */
  readonly says?: number;
  readonly pinned?: boolean;
  readonly runtimeHandler?: string;
  /** The labels of its configuration; undefined: the runtime does not report them. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface SimulatedContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly name: string;
  readonly imageId: string;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  readonly finishedAt?: bigint;
  readonly attempt?: number;
  readonly volumes?: readonly string[];
  readonly logPath?: string;
}

/** Called before each call to the runtime. An error that it throws becomes the runtime's answer. */
export type BeforeCall = (call: string, argument: string) => void | Promise<void>;

/**
 * A node in memory: a runtime that obeys every request as real ones do, images that share layers, a disk, and log files. Every request that
 * no collector may make is recorded in {@link violations}.
 */
export class SimulatedNode implements Runtime, FileSystem {
  readonly images = new Map<string, SimulatedImage>();
  readonly containers = new Map<string, SimulatedContainer>();
  readonly sandboxes = new Map<string, RuntimeSandbox>();
  /** Log files and links by path; a link has a target. */
  readonly files = new Map<string, { readonly size: number; readonly target?: string }>();
  readonly violations: string[] = [];
  readonly calls: string[] = [];
  capacity = 1_000_000;
  /** Bytes that belong to no image, such as logs and writable layers. */
  otherBytes = 0;
  /** Whether freed space stays hidden until the next settled reading. */
  freesLate = false;
  sandboxImage: string | undefined;
  before: BeforeCall = () => undefined;
  /** If set, the stream of events fails at once with this error. */
  eventsFail: Error | undefined;
  #onEvent: () => void = () => undefined;
  #late = 0;

  static key(image: { readonly id: string; readonly runtimeHandler?: string }): string {
    return image.runtimeHandler === undefined || image.runtimeHandler === ''
      ? image.id
      : `${image.id},${image.runtimeHandler}`;
  }

  addImage(image: SimulatedImage): void {
    this.images.set(SimulatedNode.key(image), image);
  }

  get used(): number {
    const layers = new Map<string, number>();
    for (const image of this.images.values()) for (const [id, size] of image.layers) layers.set(id, size);
    let used = this.otherBytes;
    for (const size of layers.values()) used += size;
    for (const { size } of this.files.values()) used += size;
    return used;
  }

  readDisk(settled = false): Promise<DiskReading> {
    if (settled) this.#late = 0;
    const available = Math.max(0, this.capacity - this.used - this.#late);
    return Promise.resolve({
      capacity: BigInt(this.capacity),
      available: BigInt(available),
      inodes: 0n,
      inodesFree: 0n,
    });
  }

  shared(): SharedBytes {
    const sizes = new Map<string, bigint>();
    const pieces = new Map<string, string[]>();
    for (const [key, image] of this.images) {
      pieces.set(key, [...image.layers.keys()]);
      for (const [id, size] of image.layers) sizes.set(id, BigInt(size));
    }
    return new SharedBytes(pieces, sizes);
  }

  async info(): Promise<RuntimeInfo> {
    await this.#call('info', '');
    return { name: 'simulated', version: '1', apiVersion: 'v1', sandboxImage: this.sandboxImage };
  }

  async listImages(): Promise<RuntimeImage[]> {
    await this.#call('listImages', '');
    return [...this.images.values()].map((image) => this.#runtimeImage(image));
  }

  #runtimeImage(image: SimulatedImage): RuntimeImage {
    const size = [...image.layers.values()].reduce((sum, each) => sum + each, 0);
    return {
      id: image.id,
      runtimeHandler: image.runtimeHandler ?? '',
      tags: image.tags,
      digests: [],
      size: BigInt(image.says ?? size),
      pinned: image.pinned === true,
    };
  }

  async listContainers(): Promise<RuntimeContainer[]> {
    await this.#call('listContainers', '');
    return [...this.containers.values()].map((each) => ({
      id: each.id,
      sandboxId: each.sandboxId,
      name: each.name,
      attempt: each.attempt ?? 0,
      podUid: each.podUid,
      podName: `pod-${each.podUid}`,
      podNamespace: 'default',
      imageId: each.imageId,
      reference: '',
      runtimeHandler: '',
      state: each.state,
      createdAt: each.createdAt,
      annotations: {},
    }));
  }

  async listSandboxes(): Promise<RuntimeSandbox[]> {
    await this.#call('listSandboxes', '');
    return [...this.sandboxes.values()];
  }

  async containerStatus(id: string): Promise<RuntimeContainerStatus | undefined> {
    await this.#call('containerStatus', id);
    const container = this.containers.get(id);
    if (container === undefined) return undefined;
    return {
      state: container.state,
      finishedAt: container.finishedAt ?? 0n,
      logPath: container.logPath ?? '',
      volumeImages: container.volumes ?? [],
    };
  }

  async imageStatus(reference: string): Promise<RuntimeImage | undefined> {
    await this.#call('imageStatus', reference);
    const found = [...this.images.values()].find(({ id, tags }) => id === reference || tags.includes(reference));
    return found && this.#runtimeImage(found);
  }

  async imageLabels(reference: string): Promise<Readonly<Record<string, string>> | undefined> {
    await this.#call('imageLabels', reference);
    return [...this.images.values()].find(({ id }) => id === reference)?.labels;
  }

  async imageFilesystem(): Promise<string> {
    await this.#call('imageFilesystem', '');
    return '/images';
  }

  async stopContainer(id: string): Promise<void> {
    await this.#call('stopContainer', id);
    const container = this.containers.get(id);
    if (container !== undefined) this.containers.set(id, { ...container, state: 'exited' });
  }

  async removeContainer(id: string): Promise<void> {
    await this.#call('removeContainer', id);
    if (this.containers.get(id)?.state === 'running') this.violations.push(`removed the running container ${id}`);
    this.containers.delete(id);
  }

  async stopSandbox(id: string): Promise<void> {
    await this.#call('stopSandbox', id);
    const sandbox = this.sandboxes.get(id);
    if (sandbox?.ready === true) this.violations.push(`stopped the ready sandbox ${id}`);
  }

  async removeSandbox(id: string): Promise<void> {
    await this.#call('removeSandbox', id);
    for (const container of this.containers.values()) {
      if (container.sandboxId === id) this.violations.push(`removed the sandbox ${id} with container ${container.id}`);
    }
    this.sandboxes.delete(id);
  }

  /** Sends an event of a container to the reader. */
  emitEvent(): void {
    this.#onEvent();
  }

  async *containerEvents(signal: AbortSignal): AsyncGenerator<void> {
    this.calls.push('containerEvents');
    if (this.eventsFail !== undefined) throw this.eventsFail;
    signal.addEventListener('abort', () => this.#onEvent(), { once: true });
    while (!signal.aborted) {
      await new Promise<void>((settle) => (this.#onEvent = settle));
      if (!signal.aborted) yield;
    }
  }

  async removeImage(id: string, runtimeHandler: string): Promise<void> {
    await this.#call('removeImage', id);
    const key = SimulatedNode.key({ id, runtimeHandler });
    const image = this.images.get(key);
    if (image === undefined) return;
    if (image.pinned === true) this.violations.push(`removed the pinned image ${key}`);
    for (const container of this.containers.values()) {
      const uses = runtimeHandler === '' && container.imageId === id;
      if (uses || container.volumes?.some((name) => name === id || image.tags.includes(name)) === true) {
        this.violations.push(`removed the image ${key} that container ${container.id} uses`);
      }
    }
    const before = this.used;
    this.images.delete(key);
    if (this.freesLate) this.#late += before - this.used;
  }

  // Methods for files.

  async usage(): Promise<DiskReading> {
    return await this.readDisk();
  }

  device(): Promise<bigint> {
    return Promise.resolve(1n);
  }

  async list(directory: string): Promise<string[]> {
    await this.#call('list', directory);
    const prefix = directory.endsWith('/') ? directory : `${directory}/`;
    const names = [...this.files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length).split('/')[0]!);
    return [...new Set(names)];
  }

  async deadLinks(directory: string): Promise<string[]> {
    await this.#call('deadLinks', directory);
    return [...this.files]
      .filter(
        ([path, { target }]) => path.startsWith(`${directory}/`) && target !== undefined && !this.files.has(target),
      )
      .map(([path]) => path.slice(directory.length + 1));
  }

  async removeFile(path: string): Promise<void> {
    await this.#call('removeFile', path);
    this.files.delete(path);
  }

  async removeTree(path: string): Promise<void> {
    await this.#call('removeTree', path);
    for (const file of this.files.keys()) if (file.startsWith(`${path}/`)) this.files.delete(file);
  }

  async #call(call: string, argument: string): Promise<void> {
    this.calls.push(argument === '' ? call : `${call} ${argument}`);
    await this.before(call, argument);
  }
}
