import { dirname } from 'node:path';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { NodeConfiguration } from '../config/node-configuration.ts';
import { validateConfiguration } from '../config/validate-configuration.ts';
import { ContainerdReader, type ImageContent } from '../containerd/containerd-content.ts';
import { modelContent, type StrandedImageRecord } from '../containerd/content-model.ts';
import { type DeadPiece, deadPieces } from '../containerd/dead-content.ts';
import { ContainerManager } from '../containers/container-manager.ts';
import { CriRuntime } from '../cri/cri-runtime.ts';
import { type FileSystem, nodeFileSystem } from '../disk/file-system.ts';
import type { DiskLayout } from '../disk/pressure.ts';
import { settledUsage } from '../disk/settled-usage.ts';
import type { Removal, RemovalOutcome } from '../images/image-cycle.ts';
import { ImageManager } from '../images/image-manager.ts';
import type { ImageLabels } from '../patterns/image-labels.ts';
import { parseProtectPattern, type ProtectPattern } from '../patterns/protect-pattern.ts';
import { type StaleTag, staleTags } from '../images/stale-tags.ts';
import type { SharedBytes } from '../images/shared-bytes.ts';
import type { DiskReading } from '../images/thresholds.ts';
import { imageKey, type ImageMemory } from '../inventory/image-inventory.ts';
import type { Runtime, RuntimeInfo } from '../inventory/runtime.ts';
import type { KnownPod } from '../pods/pod-verdicts.ts';
import { ImageMemoryFile } from './image-memory-file.ts';

export interface NodeCollectionOptions {
  readonly configuration: NodeConfiguration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Undefined until the first complete list of pods. */
  readonly knownPods?: () => readonly KnownPod[] | undefined;
  /** The protect lists of the cluster, if they are used; the result is undefined until they are known. */
  readonly clusterLists?: () => readonly ProtectPattern[] | undefined;
  /** Whether the state file is used; otherwise nothing is remembered. */
  readonly remember: boolean;
  /**
   * The age of an image that is not remembered. With `new`, the age counts from the start, as for a kubelet. With `asRecorded`, it is the
   * age of the runtime's own record of the image, for a command by hand, which has no past. If the runtime keeps no such time, the image
   * counts as old.
   */
  readonly unknownImages: 'new' | 'asRecorded';
  readonly onRemoval?: (removal: Removal, outcome: RemovalOutcome) => void;
}

const NANOSECONDS_PER_MS = 1_000_000n;
const FINISHED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/** All collection on one node, connected to a runtime's socket. Close it when done. */
export class NodeCollection {
  /** The runtime's description of itself. */
  readonly info: RuntimeInfo;
  /** Direct calls to the runtime. */
  readonly runtime: Runtime;
  /** Finds, plans and removes images. */
  readonly images: ImageManager;
  /** Plans and removes dead containers, sandboxes and logs. */
  readonly containers: ContainerManager;
  /** The state file, where there is one. */
  readonly memoryFile: ImageMemoryFile | undefined;
  /** The file systems of this machine. */
  readonly files: FileSystem;
  /** Where the runtime keeps images. */
  readonly imagePath: string;
  readonly #configuration: NodeConfiguration;
  readonly #clock: Clock;
  /** Image references in the specs of this node's unfinished pods (NODE-142). */
  readonly #podImages: () => ReadonlySet<string>;
  readonly #clusterLists: () => readonly ProtectPattern[] | undefined;
  readonly #reader: ContainerdReader | undefined;
  readonly #close: () => void;
  #stranded: readonly StrandedImageRecord[] = [];

  private constructor(parts: {
    readonly options: NodeCollectionOptions;
    readonly info: RuntimeInfo;
    readonly runtime: Runtime;
    readonly reader: ContainerdReader | undefined;
    readonly imagePath: string;
    readonly memoryFile: ImageMemoryFile | undefined;
    readonly memory: Awaited<ReturnType<ImageMemoryFile['read']>>;
    readonly close: () => void;
  }) {
    const { options, info, runtime, reader, imagePath, memoryFile, memory } = parts;
    const { configuration, clock, logger, knownPods = () => undefined, clusterLists = () => [] } = options;
    this.info = info;
    this.runtime = runtime;
    this.imagePath = imagePath;
    this.memoryFile = memoryFile;
    this.files = nodeFileSystem();
    this.#configuration = configuration;
    this.#clock = clock;
    this.#clusterLists = clusterLists;
    this.#podImages = () =>
      new Set((knownPods() ?? []).filter(({ phase }) => !FINISHED.has(phase)).flatMap(({ images }) => images));
    this.#reader = reader;
    this.#close = parts.close;
    const readImageDisk = (): Promise<DiskReading | undefined> => this.files.usage(imagePath);
    this.images = new ImageManager({
      runtime,
      configuration,
      clock,
      logger,
      readDisk: (settled) => (settled ? settledUsage(readImageDisk, clock) : readImageDisk()),
      ...(reader === undefined ? {} : { readShared: (listed) => this.#readShared(listed) }),
      podImages: this.#podImages,
      clusterLists,
      readLabels: (id) => this.#readLabels(id),
      sandboxImage: info.sandboxImage,
      memory,
      ...(options.onRemoval === undefined ? {} : { onRemoval: options.onRemoval }),
    });
    this.containers = new ContainerManager({ runtime, files: this.files, configuration, clock, logger, knownPods });
  }

  /**
   * Connects to the runtime.
   * @throws ConfigurationError, StateFileError, RuntimeCallError; nothing was removed then
   */
  static async open(options: NodeCollectionOptions): Promise<NodeCollection> {
    const { configuration, clock, metrics, logger } = options;
    validateConfiguration(configuration);
    const memoryFile = options.remember ? new ImageMemoryFile(configuration.stateFile) : undefined;
    const memory = (await memoryFile?.read()) ?? new Map<string, ImageMemory>();
    const { containerRuntimeEndpoint: endpoint, imageServiceEndpoint: imageEndpoint } = configuration;
    const timeoutMs = Number(configuration.runtimeRequestTimeout / NANOSECONDS_PER_MS);
    const runtime = new CriRuntime({
      endpoint,
      imageEndpoint,
      timeoutMs,
      clock,
      ...(metrics === undefined ? {} : { metrics }),
    });
    const ofImages = imageEndpoint === '' ? endpoint : imageEndpoint;
    let reader: ContainerdReader | undefined;
    try {
      const info = await runtime.info();
      if (info.name === 'containerd') reader = new ContainerdReader({ endpoint: ofImages, timeoutMs });
      const imagePath = (await runtime.imageFilesystem()) ?? '';
      if (options.unknownImages === 'asRecorded') await addRecordedTimes(runtime, reader, memory);
      logger.debug('connected to the runtime', { ...info, imagePath });
      const close = (): void => {
        runtime.close();
        reader?.close();
      };
      return new NodeCollection({ options, info, runtime, reader, imagePath, memoryFile, memory, close });
    } catch (error) {
      runtime.close();
      reader?.close();
      throw error;
    }
  }

  /** Reads the file systems of logs and images, and whether both are the same (NODE-111). */
  async readDisks(): Promise<{
    readonly nodefs: DiskReading | undefined;
    readonly imagefs: DiskReading | undefined;
    readonly layout: DiskLayout;
  }> {
    const { podLogsDir } = this.#configuration;
    // The log directory may not exist yet.
    const nodePath = (await this.files.device(podLogsDir)) === undefined ? dirname(podLogsDir) : podLogsDir;
    const [nodefs, imagefs] = [await this.files.usage(nodePath), await this.files.usage(this.imagePath)];
    const one = (await this.files.device(nodePath)) === (await this.files.device(this.imagePath));
    return { nodefs, imagefs, layout: one ? 'one' : 'separateImages' };
  }

  /** Records of images that hold space although the runtime no longer lists the image, as of the last plan or pass (NODE-229). */
  get stranded(): readonly StrandedImageRecord[] {
    return this.#stranded;
  }

  /**
   * Snapshots and blobs that no image, container or lease explains now (NODE-220). Reads a second time if it finds any, because containerd
   * may be removing them.
   * @throws RuntimeCallError
   */
  async readDead(): Promise<readonly DeadPiece[]> {
    const first = await this.#reader?.readWithHolders();
    const found = first === undefined ? [] : deadPieces(first);
    if (found.length === 0) return [];
    const second = await this.#reader!.readWithHolders();
    const still = new Set((second === undefined ? [] : deadPieces(second)).map(({ kind, name }) => `${kind} ${name}`));
    const dead: DeadPiece[] = [];
    for (const piece of found.filter(({ kind, name }) => still.has(`${kind} ${name}`))) {
      const { kind, snapshotter, name, bytes } = piece;
      const size = kind === 'snapshot' && bytes === 0n ? await this.#reader!.readSize(snapshotter, name) : bytes;
      dead.push({ ...piece, bytes: size });
    }
    return dead;
  }

  /** Whether a tag can be removed while its image stays. Only containerd offers this. */
  get canUntag(): boolean {
    return this.#reader !== undefined;
  }

  /**
   * The tags that may be removed now, while their image stays (NODE-226).
   * @throws RuntimeCallError
   */
  async readStaleTags(): Promise<readonly StaleTag[]> {
    const entries = (await this.#reader?.readEntries()) ?? [];
    const inventory = await this.images.detect();
    const lists = this.#clusterLists();
    if (lists === undefined) return [];
    return staleTags({
      inventory,
      podImages: this.#podImages(),
      protect: [...this.#configuration.protect.map(parseProtectPattern), ...lists],
      labels: this.images.labels,
      sandboxImage: this.info.sandboxImage,
      writtenAt: new Map(entries.map(({ name, writtenAt }) => [name, writtenAt])),
      now: BigInt(Math.trunc(this.#clock.now())) * NANOSECONDS_PER_MS,
      minimumAge: this.#configuration.imageMinimumGCAge,
    });
  }

  /**
   * Removes a tag if this is still allowed; its image stays. False if it may no longer be removed.
   * @throws RuntimeCallError
   */
  async untag({ tag }: StaleTag): Promise<boolean> {
    if (!(await this.readStaleTags()).some((each) => each.tag === tag)) return false;
    await this.#reader?.removeEntry(tag);
    return true;
  }

  /**
   * Removes a record through containerd's own API, if it is still stranded: the runtime lists no image for it. False otherwise.
   * @throws RuntimeCallError
   */
  async removeStranded({ name }: StrandedImageRecord): Promise<boolean> {
    const content = await this.#reader?.read();
    if (content === undefined || !(await this.#readStranded(content)).some((each) => each.name === name)) return false;
    await this.#reader?.removeEntry(name);
    return true;
  }

  /** Closes the connections to the runtime. */
  close(): void {
    this.#close();
  }

  /** The image's configuration has its labels. Only containerd shows it; other runtimes may report the labels in their own words. */
  async #readLabels(id: string): Promise<ImageLabels | undefined> {
    return (await this.#reader?.readLabels(id)) ?? (await this.runtime.imageLabels(id));
  }

  async #readShared(listed: ReadonlySet<string>): Promise<SharedBytes | undefined> {
    const content = await this.#reader?.read();
    if (content === undefined) return undefined;
    const { shared, stranded } = modelContent(content, listed);
    this.#stranded = stranded.length === 0 ? [] : await this.#readStranded(content, listed, stranded);
    return shared;
  }

  /**
   * Lists the images after the records were read: an image that was pulled meanwhile has a record too, and is not stranded.
   * @param before ids of the images that were listed earlier; one that was removed meanwhile is not stranded either
   * @param found the records that are stranded if there are only these images; undefined when that is not known
   */
  async #readStranded(
    content: ImageContent,
    before: ReadonlySet<string> = new Set(),
    found?: readonly StrandedImageRecord[],
  ): Promise<readonly StrandedImageRecord[]> {
    const images = await this.runtime.listImages();
    const pulled = images.filter(({ id }) => !before.has(id));
    if (found !== undefined && pulled.length === 0) return found;
    return modelContent(content, new Set([...before, ...pulled.map(({ id }) => id)])).stranded;
  }
}

/** Adds to the memory each image that it lacks, with the time at which the runtime wrote the image's record. */
async function addRecordedTimes(
  runtime: Runtime,
  reader: ContainerdReader | undefined,
  memory: Map<string, ImageMemory>,
): Promise<void> {
  const written = new Map((await reader?.readEntries())?.map(({ name, writtenAt }) => [name, writtenAt]));
  for (const { id, runtimeHandler, tags, digests } of await runtime.listImages()) {
    const key = imageKey(id, runtimeHandler);
    if (memory.has(key)) continue;
    const times = [id, ...tags, ...digests].map((name) => written.get(name) ?? 0n);
    memory.set(key, {
      firstDetected: times.reduce((latest, time) => (time > latest ? time : latest), 0n),
      lastUsed: undefined,
    });
  }
}
