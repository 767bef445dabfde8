import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import { linkSignals, untilAborted } from '../../base/time/abort.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { Service } from '../../base/service.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { NodeConfiguration } from '../config/node-configuration.ts';
import { imageLoopRuns } from '../config/validate-configuration.ts';
import type { ContainerManager } from '../containers/container-manager.ts';
import { type DiskLayout, reclaimSteps, signalsUnderPressure } from '../disk/pressure.ts';
import type { ImageCycleResult, ImageOperation, NodeEvent } from '../images/image-cycle.ts';
import type { ImageManager } from '../images/image-manager.ts';
import { decideByThreshold, type DiskReading } from '../images/thresholds.ts';
import { RuntimeCallError } from '../inventory/runtime.ts';
import { CycleEvents } from './cycle-events.ts';
import type { ImageMemoryFile } from './image-memory-file.ts';
import type { NodeMetrics, Trigger } from './node-metrics.ts';

/** The kubelet's periods (NODE-060, NODE-080), and our own period near the high threshold (NODE-223). */
const IMAGE_PERIOD_MS = 5 * 60_000;
const NEAR_PERIOD_MS = 30_000;
const NEAR_POINTS = 5;
const CONTAINER_PERIOD_MS = 60_000;
const PRESSURE_PERIOD_MS = 10_000;
const SAVE_PERIOD_MS = 60_000;
/** The shortest pause after a reclaim that freed nothing. */
const FRUITLESS_PAUSE_MS = 60_000;
/** The failure is reported once an hour while no image may be removed (NODE-219). */
const HOPELESS_EVENT_MS = 3_600_000;
/** Container events cause at most one check of the disk in this time (NODE-223). */
const EVENT_PAUSE_MS = 10_000;
/** The pause after a stream of events has broken off. */
const EVENT_RETRY_MS = 30_000;

export interface NodeDaemonOptions {
  readonly configuration: NodeConfiguration;
  /** The mode after `auto` is resolved. `audit` and `dryRun` only plan; `besideKubelet` leaves containers alone (NODE-140). */
  readonly mode: 'besideKubelet' | 'standalone' | 'audit';
  readonly images: ImageManager;
  readonly containers: ContainerManager;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: NodeMetrics;
  readonly memoryFile: ImageMemoryFile | undefined;
  readonly readDisks: () => Promise<{
    readonly nodefs: DiskReading | undefined;
    readonly imagefs: DiskReading | undefined;
    readonly layout: DiskLayout;
  }>;
  /**
   * Container events, which cause an early check of the disk. They are read only where no kubelet runs: containerd 1.7 gives each event to
   * one reader, so the kubelet would miss it.
   */
  readonly containerEvents?: (signal: AbortSignal) => AsyncIterable<void>;
  /** Reports a Warning Event on the Node. */
  readonly emit: (event: NodeEvent) => void;
  /** Called with each pass as it ends (NODE-133). */
  readonly onSpan?: (span: Span) => void;
}

/** One pass, with the kubelet's name for its span. Durations are in milliseconds. */
export interface Span {
  readonly name: 'Images/GarbageCollect' | 'Containers/GarbageCollect';
  readonly durationMs: number;
  /** Undefined when the pass succeeded. */
  readonly error: string | undefined;
}

/**
 * Node collection as a service: an image loop, a container loop, and reclaim under pressure. Each loop waits its period after a pass. Image
 * passes never overlap, and neither do container passes (NODE-122, NODE-123).
 */
export class NodeDaemon implements Service {
  readonly #options: NodeDaemonOptions;
  readonly #events = new CycleEvents();
  readonly #imageWork = new Semaphore({ permits: 1 });
  readonly #containerWork = new Semaphore({ permits: 1 });
  #hopelessAt = Number.NEGATIVE_INFINITY;
  #savedAt = Number.NEGATIVE_INFINITY;
  #completed = false;
  /** Ends the pause before the next pass over images. */
  #wakeImages: () => void = () => undefined;
  /** Before this time, no event starts a pass, because the last pass removed nothing. */
  #noWakeBefore = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: NodeDaemonOptions) {
    this.#options = options;
  }

  /** True after the first pass over images. */
  get ready(): boolean {
    return this.#completed;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { mode, images, logger, configuration } = this.#options;
    images.loopStarts();
    const loops = [this.#imageLoop(signal)];
    if (mode !== 'besideKubelet') loops.push(this.#loop(signal, () => this.#containerTurn(signal)));
    const removes = mode === 'standalone' && !configuration.dryRun;
    if (removes) loops.push(this.#loop(signal, () => this.#pressureTurn(signal)));
    // In a dry run, and where no image is collected, the disk stays full after a pass, so each event would start another one.
    const reactsToEvents = removes && configuration.accounting === 'measured' && imageLoopRuns(configuration);
    if (reactsToEvents) loops.push(this.#followEvents(signal));
    await untilAborted(signal);
    // Waits for requests that were sent to the runtime, and sends no new ones.
    if (!(await images.drain())) {
      logger.error('a removal of an image is still under way after 2 minutes, leaving it to the runtime');
      await this.#save(true);
      return;
    }
    await Promise.all(loops);
    await this.#save(true);
  }

  /** @param turn one pass; resolves with the pause after it, ms */
  async #loop(signal: AbortSignal, turn: () => Promise<number>): Promise<void> {
    while (!signal.aborted) await sleepUnlessAborted(this.#options.clock, await turn(), signal);
  }

  async #imageLoop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await this.#imageTurn(signal);
      using pause = linkSignals(signal);
      this.#wakeImages = () => pause.abort();
      await sleepUnlessAborted(this.#options.clock, pauseMs, pause.signal);
    }
  }

  /** Checks the disk soon after an event (NODE-223). Events are no source of truth: without them, the loops do the same check later. */
  async #followEvents(signal: AbortSignal): Promise<void> {
    const { containerEvents, clock, logger } = this.#options;
    if (containerEvents === undefined) return;
    while (!signal.aborted) {
      try {
        for await (const _ of containerEvents(signal)) {
          this.#looking ??= this.#lookSoon(signal).finally(() => (this.#looking = undefined));
        }
      } catch (error) {
        if (!(error instanceof RuntimeCallError)) throw error;
        if (error.failure === 'unsupported') return;
        logger.debug('the stream of container events broke off, will retry', { error: error.message });
      }
      await sleepUnlessAborted(clock, EVENT_RETRY_MS, signal);
    }
    await this.#looking;
  }

  async #lookSoon(signal: AbortSignal): Promise<void> {
    const { clock, readDisks, configuration, logger } = this.#options;
    await sleepUnlessAborted(clock, EVENT_PAUSE_MS, signal);
    if (signal.aborted || clock.monotonic() < this.#noWakeBefore) return;
    try {
      const { imagefs } = await readDisks();
      const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = configuration;
      if (imagefs !== undefined && decideByThreshold(imagefs, { high, low }).decision === 'due') this.#wakeImages();
    } catch (error) {
      logger.debug('unable to read the disk after an event', { error: messageOf(error) });
    }
  }

  async #imageTurn(signal: AbortSignal): Promise<number> {
    const { configuration, images, logger } = this.#options;
    if (!imageLoopRuns(configuration)) {
      await this.#imageWork.use(async () => {
        await images.detect().catch((error: unknown) => {
          logger.warn('unable to list images, will retry', { error: messageOf(error) });
        });
      });
      this.#completed = true;
      await this.#save(false);
      return IMAGE_PERIOD_MS;
    }
    const result = await this.#collectImages('garbageCollect', 'periodic', signal);
    this.#completed = true;
    if ((result?.removed.length ?? 0) === 0) {
      this.#noWakeBefore = this.#options.clock.monotonic() + FRUITLESS_PAUSE_MS;
    }
    await this.#save(false);
    const near =
      (result?.usagePercentAfter ?? result?.usagePercent ?? 0) >=
      configuration.imageGCHighThresholdPercent - NEAR_POINTS;
    return configuration.accounting === 'measured' && near ? NEAR_PERIOD_MS : IMAGE_PERIOD_MS;
  }

  async #collectImages(
    operation: ImageOperation,
    trigger: Trigger,
    signal: AbortSignal,
  ): Promise<ImageCycleResult | undefined> {
    const { images, clock, metrics, logger } = this.#options;
    return await this.#imageWork.use(async () => {
      const from = clock.monotonic();
      const seconds = (): number => (clock.monotonic() - from) / 1000;
      try {
        const result = await images.collect(operation, signal);
        metrics.imageCycle(operation, trigger, result, seconds());
        this.#span('Images/GarbageCollect', from, result.error);
        this.#report(result, trigger);
        return result;
      } catch (error) {
        if (!(error instanceof RuntimeCallError)) throw error;
        metrics.imageCycleFailed(operation, trigger, seconds());
        this.#span('Images/GarbageCollect', from, error.message);
        logger.warn('unable to collect images, will retry', { error: error.message });
        if (trigger === 'periodic') for (const event of this.#events.imageCycle(error.message)) this.#emit(event);
        return undefined;
      }
    });
  }

  #report(result: ImageCycleResult, trigger: Trigger): void {
    const { logger, configuration, clock, mode } = this.#options;
    const planned = configuration.dryRun || mode === 'audit';
    const { outcome, goal, usagePercent, usagePercentAfter, removed, failed, measuredFreed, estimatedFreed } = result;
    if (removed.length > 0 || failed.length > 0) {
      logger.info(planned ? 'would remove images' : 'removed images', {
        outcome,
        usagePercent,
        usagePercentAfter,
        goalBytes: goal === undefined ? undefined : Number(goal),
        removed: removed.length,
        failed: failed.length,
        estimatedBytes: Number(estimatedFreed),
        measuredBytes: measuredFreed === undefined ? undefined : Number(measuredFreed),
      });
    }
    if (planned) return;
    // No image may be removed. The kubelet would report this failure every 5 minutes (NODE-219).
    const hopeless =
      configuration.accounting === 'measured' &&
      result.because === 'insufficientFreed' &&
      removed.length === 0 &&
      failed.length === 0;
    if (hopeless) {
      if (clock.monotonic() - this.#hopelessAt < HOPELESS_EVENT_MS) return;
      this.#hopelessAt = clock.monotonic();
      for (const { reason, message } of result.events)
        this.#emit({ reason, message: `${message} ${this.#consumers()}` });
      return;
    }
    for (const event of result.events) this.#emit(event);
    if (trigger === 'periodic') for (const event of this.#events.imageCycle(result.error)) this.#emit(event);
  }

  /** Describes the users of the space that no removal can free. */
  #consumers(): string {
    const used = [...this.#options.images.inventory.values()].filter(({ users }) => users.length > 0);
    const bytes = used.reduce((sum, { image }) => sum + image.size, 0n);
    const largest = used
      .toSorted((a, b) => (a.image.size > b.image.size ? -1 : 1))
      .slice(0, 3)
      .map(({ image }) => image.tags[0] ?? image.id);
    const names = largest.length === 0 ? '' : `, the largest of them ${largest.join(', ')}`;
    return `No image may be removed: ${used.length} are in use (${bytes} bytes as the runtime reports them${names}); the rest is writable layers, logs and other data.`;
  }

  #span(name: Span['name'], from: number, error: string | undefined): void {
    this.#options.onSpan?.({ name, durationMs: this.#options.clock.monotonic() - from, error });
  }

  #emit(event: NodeEvent): void {
    this.#options.logger.warn(event.message, { event: event.reason });
    this.#options.emit(event);
  }

  async #containerTurn(signal: AbortSignal): Promise<number> {
    await this.#collectContainers(false, signal);
    return CONTAINER_PERIOD_MS;
  }

  async #collectContainers(pressure: boolean, signal: AbortSignal): Promise<number> {
    const { containers, metrics, logger, mode, configuration } = this.#options;
    return await this.#containerWork.use(async () => {
      if (mode === 'audit' || configuration.dryRun) {
        await containers.plan(pressure).then(
          ({ containers: dead, sandboxes, logDirectories, deadLinks }) => {
            const counts = {
              containers: dead.length,
              sandboxes: sandboxes.length,
              logDirectories: logDirectories.length,
              deadLinks: deadLinks.length,
            };
            if (Object.values(counts).some((count) => count > 0)) logger.info('would remove containers', counts);
          },
          (error: unknown) => logger.warn('unable to plan containers, will retry', { error: messageOf(error) }),
        );
        return 0;
      }
      const from = this.#options.clock.monotonic();
      const result = await containers.collect({ pressure, stop: signal });
      metrics.containerCycle(result);
      this.#span('Containers/GarbageCollect', from, result.error);
      if (result.removed.length > 0) {
        const count = (kind: string): number => result.removed.filter((each) => each.kind === kind).length;
        logger.info('removed containers', {
          containers: count('container'),
          sandboxes: count('sandbox'),
          logDirectories: count('logDirectory'),
          deadLinks: count('deadLink'),
        });
      }
      const { events, recovered } = this.#events.containerCycle(result.error);
      for (const event of events) this.#emit(event);
      if (recovered) logger.info('container collection succeeds again');
      return result.removed.length;
    });
  }

  /** Reclaims before pods are evicted, as the kubelet does (NODE-111). */
  async #pressureTurn(signal: AbortSignal): Promise<number> {
    const { configuration, readDisks, logger, containers } = this.#options;
    const under = async (): Promise<ReturnType<typeof signalsUnderPressure>> =>
      signalsUnderPressure(configuration.evictionHard, await readDisks());
    try {
      const [first] = await under();
      if (first === undefined) return PRESSURE_PERIOD_MS;
      const { layout } = await readDisks();
      const steps = reclaimSteps(first, layout, { trimLogs: configuration.accounting === 'measured' });
      logger.warn('reclaiming under pressure', { signal: first, steps: steps.join(',') });
      let freed = 0;
      for (const step of steps) {
        if (step === 'containers') freed += await this.#collectContainers(true, signal);
        else if (step === 'images')
          freed += (await this.#collectImages('deleteUnused', 'eviction', signal))?.removed.length ?? 0;
        else {
          freed += (
            await this.#containerWork.use(() =>
              containers.trimDeadLogs(async () => signal.aborted || !(await under()).includes(first)),
            )
          ).length;
        }
        if (signal.aborted || !(await under()).includes(first)) break;
      }
      return freed > 0 ? PRESSURE_PERIOD_MS : FRUITLESS_PAUSE_MS;
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      logger.warn('unable to reclaim under pressure, will retry', { error: error.message });
      return PRESSURE_PERIOD_MS;
    }
  }

  /** Saves at most once a minute, and at shutdown (NODE-210). */
  async #save(last: boolean): Promise<void> {
    const { memoryFile, images, clock, logger } = this.#options;
    if (memoryFile === undefined || images.inventory.size === 0) return;
    if (!last && clock.monotonic() - this.#savedAt < SAVE_PERIOD_MS) return;
    this.#savedAt = clock.monotonic();
    try {
      await memoryFile.write(images.inventory);
    } catch (error) {
      logger.warn('unable to write the state file, will retry', { error: messageOf(error) });
    }
  }
}
