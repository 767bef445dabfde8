import { sleep, type Clock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import { MINUTE } from '../config/go-duration.ts';
import type { NodeConfiguration } from '../config/node-configuration.ts';
import { detect, imageKey, type ImageMemories } from '../inventory/image-inventory.ts';
import { type ImageRecord, ImageRecords, type Inventory } from '../inventory/image-records.ts';
import { type Runtime, RuntimeCallError, type RuntimeContainer, type RuntimeImage } from '../inventory/runtime.ts';
import type { ImageCycle, ImageCycleResult, ImageOperation, Removal, RemovalOutcome } from './image-cycle.ts';
import { KubeletImageCycle } from './kubelet-image-cycle.ts';
import { MeasuredImageCycle } from './measured-image-cycle.ts';
import { type Protection, protections } from './protection.ts';
import type { ImageLabels } from '../patterns/image-labels.ts';
import { parseProtectPattern, type ProtectPattern } from '../patterns/protect-pattern.ts';
import type { SharedBytes } from './shared-bytes.ts';
import type { DiskReading } from './thresholds.ts';

export interface ImageManagerOptions {
  readonly runtime: Runtime;
  readonly configuration: NodeConfiguration;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Reads the disk that holds the images; `settled`: wait until the free space no longer changes. */
  readonly readDisk: (settled: boolean) => Promise<DiskReading | undefined>;
  /** Reads exact bytes; undefined where the runtime does not show the pieces of its images. */
  readonly readShared?: (listed: ReadonlySet<string>) => Promise<SharedBytes | undefined>;
  /** References in the specs of pods that are not finished (NODE-142). */
  readonly podImages?: () => ReadonlySet<string>;
  /** Protect lists of the cluster, if it has some; undefined until they are known (NODE-212). */
  readonly clusterLists?: () => readonly ProtectPattern[] | undefined;
  /** Reads the labels of an image by its id; undefined where the runtime does not show them. Called only if a protect list selects labels. */
  readonly readLabels?: (id: string) => Promise<ImageLabels | undefined>;
  readonly sandboxImage?: string | undefined;
  /** Image ages that an earlier process stored (NODE-210). */
  readonly memory?: ImageMemories;
  /** Called after each removal with its outcome. */
  readonly onRemoval?: (removal: Removal, outcome: RemovalOutcome) => void;
}

/** The removals that a pass would make, and the reason why each other image stays. */
export interface ImagePlan {
  readonly inventory: Inventory;
  readonly protections: ReadonlyMap<string, Protection>;
  /** The result of the pass if every removal succeeds and frees the predicted bytes. */
  readonly result: ImageCycleResult;
  readonly disk: DiskReading | undefined;
  readonly shared: SharedBytes | undefined;
}

interface Failure {
  readonly times: number;
  /** Time of the next attempt, in nanoseconds of the steady clock. */
  readonly notBefore: bigint;
}

const LONGEST_PAUSE_MINUTES = 60n;
/** Longest wait after the stop for removals that are under way, in milliseconds (NODE-228). */
export const DRAIN_MS = 120_000;

/**
 * Finds, plans and removes images. Invariant: an image is removed only if a list of containers read after the plan shows no user of it, and
 * a status read just before the removal shows no pin. The caller lets only one pass run at a time.
 */
export class ImageManager {
  readonly #options: ImageManagerOptions;
  readonly #logger: Logger;
  readonly #patterns: readonly ProtectPattern[];
  readonly #steady: () => bigint;
  readonly #failures = new Map<string, Failure>();
  /** Images that each container mounts, by id of the container. They never change while the container exists. */
  readonly #volumes = new Map<string, readonly string[]>();
  /** Labels of each image, by id. They never change: the id is the digest of what holds them. */
  #labels = new Map<string, ImageLabels>();
  #inventory: ImageRecords = ImageRecords.empty;
  #memory: ImageMemories;
  #startTime: bigint;
  #unreadable: string | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: ImageManagerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#patterns = options.configuration.protect.map(parseProtectPattern);
    this.#steady = steadyTime(options.clock);
    this.#memory = options.memory ?? new Map();
    this.#startTime = this.#steady();
  }

  get inventory(): Inventory {
    return this.#inventory;
  }

  /** The labels that protect lists select, as of the last detection. An image is missing if its labels cannot be read. */
  get labels(): ReadonlyMap<string, ImageLabels> {
    return this.#labels;
  }

  /** Starts the waiting time of the kubelet's age pass (NODE-063). */
  loopStarts(): void {
    this.#startTime = this.#steady();
  }

  /**
   * Brings the records up to date. A list that fails changes nothing (NODE-019).
   * @throws RuntimeCallError
   */
  async detect(): Promise<Inventory> {
    const { runtime, configuration } = this.#options;
    const at = this.#steady();
    const images = await runtime.listImages();
    const containers = await runtime.listContainers();
    const seen = configuration.imageVolumes
      ? await this.#readVolumes(containers)
      : { volumes: new Map(), unreadable: undefined };
    this.#unreadable = seen.unreadable;
    await this.#readLabels(images);
    const sighting = { images, containers, volumes: seen.volumes, at, now: this.#steady() };
    this.#inventory = detect(this.#inventory, sighting, this.#memory);
    this.#memory = new Map();
    for (const key of this.#failures.keys()) if (!this.#inventory.has(key)) this.#failures.delete(key);
    return this.#inventory;
  }

  /**
   * Computes the result of a pass without removing anything (NODE-049, NODE-225).
   * @throws RuntimeCallError
   */
  async plan(operation: ImageOperation): Promise<ImagePlan> {
    const freeTime = this.#steady();
    const inventory = await this.detect();
    const found = this.#protections();
    const shared = await this.#shared();
    const cycle = this.#cycle(operation, freeTime, found, shared?.clone());
    const disk = await this.#options.readDisk(false);
    let freed = 0n;
    for (;;) {
      const step = cycle.next();
      if (step.step === 'end') return { inventory, protections: found, result: step.result, disk, shared };
      if (step.step === 'readDisk') {
        const available = disk?.available === undefined ? undefined : disk.available + freed;
        cycle.read({
          capacity: disk?.capacity,
          available,
          inodes: disk?.inodes ?? 0n,
          inodesFree: disk?.inodesFree ?? 0n,
        });
        continue;
      }
      for (const removal of step.removals) {
        freed += removal.bytes;
        cycle.settle(removal, { outcome: 'removed' });
      }
    }
  }

  /**
   * Runs one pass. After the stop it sends no more removals. Those that were already sent go on; {@link drain} waits for them.
   * @throws RuntimeCallError when the detection fails
   */
  async collect(operation: ImageOperation, stop?: AbortSignal): Promise<ImageCycleResult> {
    if (this.#options.configuration.dryRun) return (await this.plan(operation)).result;
    const freeTime = this.#steady();
    await this.detect();
    return await this.#run(this.#cycle(operation, freeTime, this.#protections(), await this.#shared()), stop);
  }

  /** Removes images that a person named, after the same checks as a pass. */
  async remove(records: readonly ImageRecord[]): Promise<ReadonlyMap<string, RemovalOutcome>> {
    const removals = records.map((record): Removal => ({
      record,
      reason: 'space',
      bytes: record.image.size,
      exact: false,
    }));
    const outcomes = new Map<string, RemovalOutcome>();
    for (let next = 0; next < removals.length; next += this.#options.configuration.parallelRemovals) {
      const batch = removals.slice(next, next + this.#options.configuration.parallelRemovals);
      const { settled } = await this.#removeBatch(batch);
      for (const [removal, outcome] of settled) outcomes.set(removal.record.key, outcome);
    }
    return outcomes;
  }

  /** Waits until no removal is under way, at most {@link DRAIN_MS}. Returns true when all have finished. */
  async drain(): Promise<boolean> {
    const { clock } = this.#options;
    const all = Promise.all(this.#underWay).then(() => true);
    const bound = new AbortController();
    const late = sleep(clock, DRAIN_MS, bound.signal).then(
      () => false,
      () => true,
    );
    const drained = await Promise.race([all, late]);
    bound.abort();
    return drained;
  }

  #protections(): Map<string, Protection> {
    const { configuration, sandboxImage, podImages, clusterLists } = this.#options;
    return protections(this.#inventory, {
      sandboxImage,
      ...(podImages === undefined ? {} : { podImages: podImages() }),
      ...(clusterLists === undefined ? {} : { clusterLists: clusterLists() ?? ('unknown' as const) }),
      protect: this.#patterns,
      labels: this.#labels,
      keepNewest: configuration.keepNewest,
      scope: configuration.scope,
      unreadableContainer: this.#unreadable,
    });
  }

  async #shared(): Promise<SharedBytes | undefined> {
    const { readShared, configuration } = this.#options;
    if (readShared === undefined || configuration.accounting === 'kubelet') return undefined;
    try {
      return await readShared(new Set([...this.#inventory.values()].map(({ image }) => image.id)));
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      this.#logger.warn('unable to read which layers images share, will go by their sizes', { error: error.message });
      return undefined;
    }
  }

  #cycle(
    operation: ImageOperation,
    freeTime: bigint,
    found: ReadonlyMap<string, Protection>,
    shared: SharedBytes | undefined,
  ): ImageCycle {
    const c = this.#options.configuration;
    const maximumAge = c.featureGates['ImageMaximumGCAge'] === false ? 0n : c.imageMaximumGCAge;
    const common = {
      inventory: this.#inventory,
      protections: found,
      operation,
      freeTime,
      minimumAge: c.imageMinimumGCAge,
      maximumAge,
      thresholds: { high: c.imageGCHighThresholdPercent, low: c.imageGCLowThresholdPercent },
    };
    if (c.accounting === 'kubelet') return new KubeletImageCycle({ ...common, startTime: this.#startTime });
    const retryLater = new Set([...this.#failures].filter(([, each]) => each.notBefore > freeTime).map(([key]) => key));
    return new MeasuredImageCycle({
      ...common,
      inodeThresholds: { high: c.inodesHighPercent, low: c.inodesLowPercent },
      choose: c.choose,
      protectRecent: c.protectRecent,
      parallelRemovals: c.parallelRemovals,
      minimumAgeFrom: c.imageAges === 'independent' ? 'used' : 'detected',
      shared,
      retryLater,
    });
  }

  async #run(cycle: ImageCycle, stop: AbortSignal | undefined): Promise<ImageCycleResult> {
    // A runtime that does not answer is not asked again for each batch: every question takes the whole time limit.
    let silent = false;
    for (;;) {
      const step = cycle.next();
      if (step.step === 'end') return step.result;
      if (step.step === 'readDisk') {
        const reading = await this.#options.readDisk(step.settled);
        cycle.read(reading ?? { capacity: undefined, available: undefined, inodes: 0n, inodesFree: 0n });
        continue;
      }
      if (silent || stop?.aborted === true) {
        const why = silent ? 'the runtime does not answer' : 'the daemon stops';
        for (const removal of step.removals) cycle.settle(removal, { outcome: 'spared', why });
        continue;
      }
      const batch = await this.#removeBatch(step.removals);
      for (const [removal, outcome] of batch.settled) cycle.settle(removal, outcome);
      silent = batch.silent;
    }
  }

  /** `silent`: the runtime did not answer when asked who uses these images. */
  async #removeBatch(removals: readonly Removal[]): Promise<{
    readonly settled: ReadonlyMap<Removal, RemovalOutcome>;
    readonly silent: boolean;
  }> {
    let spared: ReadonlyMap<Removal, RemovalOutcome>;
    try {
      spared = await this.#checkAgain(removals);
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      const outcome: RemovalOutcome = { outcome: 'failed', message: error.message };
      const silent = error.failure === 'unreachable';
      for (const removal of removals) {
        // No image is at fault, so the next pass tries them all (NODE-019).
        if (silent) this.#options.onRemoval?.(removal, outcome);
        else this.#note(removal, outcome);
      }
      return { settled: new Map(removals.map((removal) => [removal, outcome])), silent };
    }
    const settled = await Promise.all(
      removals.map(async (removal): Promise<readonly [Removal, RemovalOutcome]> => {
        const outcome = spared.get(removal) ?? (await this.#removeOne(removal));
        this.#note(removal, outcome);
        return [removal, outcome];
      }),
    );
    return { settled: new Map(settled), silent: false };
  }

  /** Reads users and pins again: a pod may have started after the plan was made (NODE-041, NODE-142). */
  async #checkAgain(removals: readonly Removal[]): Promise<Map<Removal, RemovalOutcome>> {
    const { runtime, configuration, podImages, clusterLists } = this.#options;
    const containers = await runtime.listContainers();
    const used = new Set(containers.map(({ imageId, runtimeHandler }) => imageKey(imageId, runtimeHandler)));
    const volumes = new Set<string>();
    let unreadable: string | undefined;
    if (configuration.imageVolumes) {
      const seen = await this.#readVolumes(containers);
      unreadable = seen.unreadable;
      for (const ids of seen.volumes.values()) for (const id of ids) volumes.add(id);
    }
    const named = podImages?.() ?? new Set<string>();
    const spared = new Map<Removal, RemovalOutcome>();
    await Promise.all(
      removals.map(async (removal) => {
        const { key, image } = removal.record;
        const spare = (why: string): void => void spared.set(removal, { outcome: 'spared', why });
        const names = [image.id, ...image.tags, ...image.digests];
        if (used.has(key) || names.some((each) => volumes.has(each))) return spare('a container uses it by now');
        if (unreadable !== undefined) return spare('a container does not report which images it mounts');
        if ([...image.tags, ...image.digests].some((each) => named.has(each))) return spare('a pod names it by now');
        if (clusterLists?.()?.some((pattern) => pattern.matches(image, this.#labels.get(image.id))) === true)
          return spare('a protect list names it by now');
        const status = await runtime.imageStatus(image.id);
        if (status?.pinned === true) spare('the runtime pins it by now');
      }),
    );
    return spared;
  }

  async #removeOne({ record }: Removal): Promise<RemovalOutcome> {
    const removal = this.#options.runtime.removeImage(record.image.id, record.image.runtimeHandler);
    const settled = removal.then(
      (): RemovalOutcome => ({ outcome: 'removed' }),
      (error: unknown): RemovalOutcome => {
        if (!(error instanceof RuntimeCallError)) throw error;
        return { outcome: 'failed', message: error.message };
      },
    );
    this.#underWay.add(settled);
    try {
      return await settled;
    } finally {
      this.#underWay.delete(settled);
    }
  }

  #note(removal: Removal, outcome: RemovalOutcome): void {
    const { key } = removal.record;
    this.#options.onRemoval?.(removal, outcome);
    if (outcome.outcome !== 'failed') {
      this.#failures.delete(key);
      if (outcome.outcome === 'removed') {
        this.#inventory = this.#inventory.without(key);
      }
      return;
    }
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const minutes = times > 6 ? LONGEST_PAUSE_MINUTES : 1n << BigInt(times - 1);
    const pause = (minutes > LONGEST_PAUSE_MINUTES ? LONGEST_PAUSE_MINUTES : minutes) * MINUTE;
    this.#failures.set(key, { times, notBefore: this.#steady() + pause });
    this.#logger.warn('unable to remove an image, will retry', { image: key, error: outcome.message });
  }

  /** Reads the labels of new images, if a protect list selects labels. An image whose labels cannot be read is asked for again later. */
  async #readLabels(images: readonly RuntimeImage[]): Promise<void> {
    const { readLabels, clusterLists } = this.#options;
    const selects = [...this.#patterns, ...(clusterLists?.() ?? [])].some(({ byLabels }) => byLabels);
    const known = new Map<string, ImageLabels>();
    if (selects && readLabels !== undefined) {
      const unknown = new Set<string>();
      for (const { id } of images) {
        const labels = this.#labels.get(id);
        if (labels === undefined) unknown.add(id);
        else known.set(id, labels);
      }
      await forEachOf([...unknown], async (id) => {
        try {
          const labels = await readLabels(id);
          if (labels !== undefined) known.set(id, labels);
        } catch (error) {
          if (!(error instanceof RuntimeCallError) || error.failure === 'unreachable') throw error;
          this.#logger.warn('unable to read the labels of an image', { image: id, error: error.message });
        }
      });
    }
    this.#labels = known;
  }

  /** Reads the status of new containers only. A container that no longer exists mounts nothing (NODE-217). */
  async #readVolumes(
    containers: readonly RuntimeContainer[],
  ): Promise<{ readonly volumes: ReadonlyMap<string, readonly string[]>; readonly unreadable: string | undefined }> {
    const known = this.#volumes;
    const unknown = containers.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    if (known.size > containers.length - unknown.length) {
      const listed = new Set(containers.map(({ id }) => id));
      for (const id of known.keys()) if (!listed.has(id)) known.delete(id);
    }
    let unreadable: string | undefined;
    await forEachOf(unknown, async (id) => {
      try {
        known.set(id, (await this.#options.runtime.containerStatus(id))?.volumeImages ?? []);
      } catch (error) {
        if (!(error instanceof RuntimeCallError)) throw error;
        if (error.failure === 'unreachable' || this.#options.configuration.accounting === 'kubelet') throw error;
        unreadable = id;
      }
    });
    return { volumes: known, unreadable };
  }
}

/** Maximum number of concurrent requests for the details of images and containers. */
const CONCURRENT_READS = 8;

async function forEachOf(ids: readonly string[], read: (id: string) => Promise<void>): Promise<void> {
  const left = ids.values();
  const readOneByOne = async (): Promise<void> => {
    for (const id of left) await read(id);
  };
  await Promise.all(Array.from({ length: CONCURRENT_READS }, readOneByOne));
}

const NANOSECONDS_PER_MS = 1_000_000n;

/** Returns nanoseconds since the epoch. They start at the machine's time and advance evenly, even when its clock is set later. */
function steadyTime(clock: Clock): () => bigint {
  const wall = clock.now();
  const start = clock.monotonic();
  return () => BigInt(Math.trunc(wall + (clock.monotonic() - start))) * NANOSECONDS_PER_MS;
}
