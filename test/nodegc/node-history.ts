import type { Clock } from '../../src/base/time/clock.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { type Random, seededRandom } from '../../src/base/random/random.ts';
import { MINUTE } from '../../src/nodegc/config/go-duration.ts';
import { defaultConfiguration, type NodeConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { ContainerManager } from '../../src/nodegc/containers/container-manager.ts';
import type { ImageCycleResult } from '../../src/nodegc/images/image-cycle.ts';
import { ImageManager } from '../../src/nodegc/images/image-manager.ts';
import type { ImageMemories } from '../../src/nodegc/inventory/image-inventory.ts';
import { RuntimeCallError } from '../../src/nodegc/inventory/runtime.ts';
import type { KnownPod } from '../../src/nodegc/pods/pod-verdicts.ts';
import { SimulatedNode } from '../../src/nodegc/testing/simulated-node.ts';

/** The steps of a history, counted, so that a suite can check that it has seen something. */
export interface HistoryCounts {
  imagePasses: number;
  containerPasses: number;
  imagesRemoved: number;
  containersRemoved: number;
  goalsMet: number;
  goalsMissed: number;
  failures: number;
  spared: number;
}

export interface HistoryOutcome {
  readonly violations: readonly string[];
  readonly counts: HistoryCounts;
}

const STEPS = 24;

const NANOSECONDS_PER_MS = 1_000_000n;

/** One random history of a node, by its seed: pulls, pods, crashes, a disk that fills, clocks that jump, calls that fail. */
class NodeHistory {
  readonly #random: Random;
  readonly #node = new SimulatedNode();
  readonly #fake = new FakeClock();
  readonly #clock: Clock;
  readonly #configuration: NodeConfiguration;
  readonly #pods = new Map<string, KnownPod>();
  readonly #violations: string[] = [];
  readonly #counts: HistoryCounts = {
    imagePasses: 0,
    containerPasses: 0,
    imagesRemoved: 0,
    containersRemoved: 0,
    goalsMet: 0,
    goalsMissed: 0,
    failures: 0,
    spared: 0,
  };
  /** By how much the machine's clock is wrong, ms. */
  #skew = 0;
  /** The same when the present manager was started. */
  #startSkew = 0;
  #serial = 0;
  #images!: ImageManager;
  #containers!: ContainerManager;
  #failing = 0;
  #podsReady = true;
  readonly #exact: boolean;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const random = this.#random;
    this.#exact = random.integer(3) > 0;
    this.#clock = {
      now: () => this.#fake.now() + this.#skew,
      monotonic: () => this.#fake.monotonic(),
      // Space that comes back late is waited for; nobody else sets a timer here.
      setTimer: (delayMs, fn) => this.#fake.setTimer(delayMs, fn),
      defer: (fn) => this.#fake.defer(fn),
    };
    const low = random.integer(90);
    this.#configuration = {
      ...defaultConfiguration,
      imageGCLowThresholdPercent: low,
      imageGCHighThresholdPercent: low + 1 + random.integer(100 - low),
      imageMinimumGCAge: BigInt(random.integer(5)) * MINUTE + 1n,
      imageMaximumGCAge: random.integer(3) === 0 ? BigInt(10 + random.integer(50)) * MINUTE : 0n,
      accounting: random.integer(4) === 0 ? 'kubelet' : 'measured',
      choose: random.integer(2) === 0 ? 'fewest' : 'leastRecentlyUsed',
      protectRecent: BigInt(random.integer(30)) * MINUTE,
      parallelRemovals: this.#exact ? 1 + random.integer(8) : 1,
      protect: random.integer(3) === 0 ? ['team/kept*'] : [],
      keepNewest: random.integer(4) === 0 ? { 'team/app1': 1 } : {},
      imageAges: random.integer(4) === 0 ? 'independent' : 'kubelet',
      containerGC: {
        ...defaultConfiguration.containerGC,
        minAge: BigInt(random.integer(3)) * MINUTE,
        maxPerPodContainer: random.integer(4) - 1,
        maxContainers: random.integer(8) - 1,
        useAllPlaces: random.integer(2) === 0,
      },
      podLogsDir: '/pods',
      containerLogsDir: '/containers',
    };
    this.#node.capacity = 1200;
    this.#node.before = (call, argument) => this.#beforeCall(call, argument);
    this.#start(new Map());
  }

  async run(): Promise<HistoryOutcome> {
    for (let images = 4 + this.#random.integer(12); images > 0; images--) this.#pull();
    for (let step = 0; step < STEPS; step++) await this.#step();
    return { violations: [...this.#violations, ...this.#node.violations], counts: this.#counts };
  }

  #start(memory: ImageMemories): void {
    const { accounting } = this.#configuration;
    this.#startSkew = this.#skew;
    this.#images = new ImageManager({
      runtime: this.#node,
      configuration: this.#configuration,
      clock: this.#clock,
      readDisk: (settled) => this.#node.readDisk(settled),
      ...(this.#exact && accounting === 'measured' ? { readShared: () => Promise.resolve(this.#node.shared()) } : {}),
      podImages: () =>
        new Set([...this.#pods.values()].filter(({ phase }) => phase === 'Pending').flatMap(({ images }) => images)),
      memory,
    });
    this.#containers = new ContainerManager({
      runtime: this.#node,
      files: this.#node,
      configuration: this.#configuration,
      clock: this.#clock,
      knownPods: () => (this.#podsReady ? [...this.#pods.values()] : undefined),
    });
  }

  /** Calls fail, and the kubelet works on while a pass looks around; what it does between the last look and the removal no collector can see. */
  #beforeCall(call: string, argument: string): void {
    if (this.#failing > 0 && this.#random.integer(this.#failing) === 0 && !['list', 'deadLinks'].includes(call)) {
      this.#counts.failures++;
      const failure = this.#random.integer(2) === 0 ? 'unreachable' : 'failed';
      throw new RuntimeCallError(call, failure, `${call} ${argument} fails`);
    }
    if ((call === 'listImages' || call === 'listContainers') && this.#random.integer(8) === 0) this.#startPod();
    if (call === 'listImages' && this.#random.integer(20) === 0) this.#pull();
  }

  async #step(): Promise<void> {
    const random = this.#random;
    this.#fake.advance(random.integer(10 * 60_000));
    switch (random.integer(16)) {
      case 0:
      case 1:
      case 2:
        return this.#pull();
      case 3:
      case 4:
        return this.#startPod();
      case 5:
        return this.#endContainer();
      case 6:
        return this.#endPod();
      case 7:
        this.#node.otherBytes = random.integer(500);
        return undefined;
      case 8:
        this.#skew += (random.integer(2) === 0 ? 1 : -1) * random.integer(100_000_000);
        return undefined;
      case 9:
        return this.#pin();
      case 10:
        this.#failing = random.integer(3) === 0 ? 3 + random.integer(10) : 0;
        this.#podsReady = random.integer(6) > 0;
        if (random.integer(3) === 0) this.#start(random.integer(2) === 0 ? this.#images.inventory : new Map());
        return undefined;
      case 11:
        return await this.#collectContainers();
      default:
        return await this.#collectImages();
    }
  }

  #pull(): void {
    const random = this.#random;
    const id = `i${this.#serial++}`;
    const layers = new Map<string, number>();
    // Some layers of a few bases, which have the same size wherever they are, and one of its own.
    const base = random.integer(4);
    for (let depth = 0; depth < random.integer(4); depth++)
      layers.set(`base${base}-${depth}`, 20 + base * 13 + depth * 7);
    if (random.integer(6) > 0) layers.set(`own-${id}`, 1 + random.integer(200));
    const repository = random.integer(8) === 0 ? 'team/kept' : `team/app${random.integer(3)}`;
    // The compressed size, as runtimes report it.
    const full = [...layers.values()].reduce((sum, size) => sum + size, 0);
    this.#node.addImage({ id, tags: [`${repository}:${id}`], layers, says: Math.ceil(full / (1 + random.integer(3))) });
    if (this.#node.used > this.#node.capacity) this.#node.images.delete(id);
  }

  #anyOf<T>(values: Iterable<T>): T | undefined {
    const all = [...values];
    return all[this.#random.integer(Math.max(1, all.length))];
  }

  #startPod(): void {
    const image = this.#anyOf(this.#node.images.values());
    if (image === undefined) return;
    const random = this.#random;
    const again = random.integer(3) === 0 ? this.#anyOf(this.#pods.keys()) : undefined;
    const uid = again ?? `p${this.#serial++}`;
    const id = `c${this.#serial++}`;
    const sandboxId = `s-${uid}`;
    const createdAt = BigInt(Math.trunc(this.#clock.now())) * NANOSECONDS_PER_MS;
    this.#pods.set(uid, { uid, mirrorOf: undefined, phase: 'Running', reason: '', deleted: false, images: [] });
    this.#node.sandboxes.set(sandboxId, {
      id: sandboxId,
      podUid: uid,
      foreign: false,
      ready: true,
      createdAt,
      attempt: 0,
    });
    const volume = random.integer(6) === 0 ? this.#anyOf(this.#node.images.values()) : undefined;
    const states = ['running', 'running', 'created', 'exited', 'unknown'] as const;
    this.#node.containers.set(id, {
      id,
      sandboxId,
      podUid: uid,
      name: `n${random.integer(2)}`,
      imageId: image.id,
      state: states[random.integer(states.length)]!,
      createdAt,
      logPath: `/pods/default_x_${uid}/${id}.log`,
      ...(volume === undefined ? {} : { volumes: [random.integer(2) === 0 ? volume.id : volume.tags[0]!] }),
    });
    this.#node.files.set(`/pods/default_x_${uid}/${id}.log`, { size: 1 });
  }

  #endContainer(): void {
    const container = this.#anyOf(this.#node.containers.values());
    if (container !== undefined) this.#node.containers.set(container.id, { ...container, state: 'exited' });
  }

  #endPod(): void {
    const pod = this.#anyOf(this.#pods.values());
    if (pod === undefined) return;
    for (const [id, container] of this.#node.containers) {
      if (container.podUid === pod.uid) this.#node.containers.set(id, { ...container, state: 'exited' });
    }
    const sandbox = this.#node.sandboxes.get(`s-${pod.uid}`);
    if (sandbox !== undefined) this.#node.sandboxes.set(sandbox.id, { ...sandbox, ready: false });
    if (this.#random.integer(2) === 0) this.#pods.delete(pod.uid);
    else this.#pods.set(pod.uid, { ...pod, phase: 'Succeeded', deleted: this.#random.integer(2) === 0 });
  }

  #pin(): void {
    const image = this.#anyOf(this.#node.images.values());
    if (image !== undefined) this.#node.addImage({ ...image, pinned: image.pinned !== true });
  }

  async #collectImages(): Promise<void> {
    const operation = this.#random.integer(4) === 0 ? 'deleteUnused' : 'garbageCollect';
    this.#node.freesLate = this.#random.integer(3) === 0;
    const before = new Map(this.#node.images);
    try {
      const result = await this.#images.collect(operation);
      this.#counts.imagePasses++;
      this.#judgeImages(result, before);
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      if (this.#node.images.size < before.size)
        this.#violations.push('a pass whose detection failed has removed an image');
    }
  }

  #judgeImages(result: ImageCycleResult, before: SimulatedNode['images']): void {
    const { accounting, imageMinimumGCAge, protect } = this.#configuration;
    const { removed, goal, measuredFreed, failed, skipped } = result;
    this.#counts.imagesRemoved += removed.length;
    this.#counts.spared += skipped.filter(({ reason }) => reason === 'spared').length;
    const breaks = (what: string): void => void this.#violations.push(what);
    // One that was pulled during the pass is not in `before`.
    const told = new Set(removed.map(({ record }) => record.key));
    const untold = [...before.keys()].filter((key) => !this.#node.images.has(key) && !told.has(key));
    if (untold.length > 0) breaks(`removed ${untold.join()} without telling`);
    const still = [...told].filter((key) => this.#node.images.has(key));
    if (still.length > 0) breaks(`told that ${still.join()} are removed, which are there`);
    for (const { record } of removed) {
      if (protect.length > 0 && record.image.tags.some((tag) => tag.startsWith('team/kept')))
        breaks(`removed ${record.key}, which is on the protect list`);
      const since = record.firstDetected;
      // Records are in the time of the clock as it stood when the manager started, which goes on evenly.
      const age = BigInt(Math.trunc(this.#fake.now() + this.#startSkew)) * NANOSECONDS_PER_MS - since;
      if (accounting === 'measured' && age < imageMinimumGCAge) breaks(`removed ${record.key}, which is too young`);
    }
    if (goal === undefined || accounting !== 'measured') return;
    const space = removed.filter(({ reason }) => reason === 'space');
    const met = measuredFreed !== undefined && measuredFreed >= goal;
    if (met) this.#counts.goalsMet++;
    else this.#counts.goalsMissed++;
    const last = space.at(-1);
    if (met && last !== undefined && last.exact) {
      if (measuredFreed - last.bytes >= goal)
        breaks(`removed ${last.record.key} although the goal of ${goal} was met without it`);
    }
    if (!met && failed.length === 0) {
      const untouched = new Set(skipped.map(({ record }) => record.key));
      const could = [...this.#images.inventory.keys()].filter((key) => !untouched.has(key));
      if (could.length > 0) breaks(`missed the goal of ${goal} although ${could.join()} could have gone`);
    }
    if (met && result.outcome !== 'success') breaks(`met the goal and ended with ${result.outcome}`);
  }

  async #collectContainers(): Promise<void> {
    const pressure = this.#random.integer(3) === 0;
    const failures = this.#counts.failures;
    const at = BigInt(Math.trunc(this.#clock.now())) * NANOSECONDS_PER_MS;
    const result = await this.#containers.collect({ pressure });
    this.#counts.containerPasses++;
    this.#counts.containersRemoved += result.removed.filter(({ kind }) => kind === 'container').length;
    if (this.#counts.failures > failures || result.error !== undefined || result.left.length > 0) return;
    const { minAge, maxPerPodContainer, maxContainers } = this.#configuration.containerGC;
    const dead = [...this.#node.containers.values()].filter(
      ({ state, createdAt }) => state !== 'running' && createdAt < at - minAge,
    );
    const units = new Map<string, number>();
    for (const { podUid, name } of dead) units.set(`${podUid}/${name}`, (units.get(`${podUid}/${name}`) ?? 0) + 1);
    const most = Math.max(0, ...units.values());
    if (maxPerPodContainer >= 0 && most > maxPerPodContainer)
      this.#violations.push(`left ${most} dead containers of one name`);
    if (maxContainers >= 0 && dead.length > maxContainers)
      this.#violations.push(`left ${dead.length} dead containers on the node`);
    if (!this.#podsReady) return;
    const orphan = dead.find(({ podUid }) => !this.#pods.has(podUid));
    if (orphan !== undefined) this.#violations.push(`left container ${orphan.id} of a pod that is gone`);
  }
}

/** Plays one history. Violations are what no collector may do; none is expected. */
export async function playHistory(seed: number): Promise<HistoryOutcome> {
  return await new NodeHistory(seed).run();
}
