import type { TestKind } from './kinds.ts';
import { type Death, MortalWire } from './mortal-wire.ts';
import { Rig } from './rig.ts';
import type { Scenario } from './scenarios.ts';
import { Attribution } from './simulation/attribution.ts';
import { Judge } from './simulation/judge.ts';

/** A collector in a play, with all that belongs to its process. */
export interface Process {
  /** It has nothing to do at this moment. */
  readonly atRest: boolean;
  /** As by SIGTERM. May take time. */
  stop(): Promise<void>;
  /** Ends a process whose wire is dead, without letting time pass. */
  bury(): Promise<void>;
}

/** `index`: 0 for the first one, which may die, then 1. */
export type StartProcess = (rig: Rig, wire: MortalWire, index: number) => Promise<Process>;

export interface PlayOptions {
  readonly start: StartProcess;
  /** How the first process dies. */
  readonly death?: Death;
  /** Served besides. */
  readonly serve?: readonly TestKind[];
  /** Lets this much time pass at last, ms, and then stops the process, which may die of that too; 0: it runs on. */
  readonly lastMs?: number;
}

/** Time that a collector may take to come to rest, ms. */
const REST_MS = 120_000;
/** Within this a process has stopped, and a buried one has given up, ms. */
const STOP_MS = 30_000;

/** A scenario, with a collector that is killed at one of its calls, and another one that follows. */
export class Play {
  /** The wire of the first process. */
  readonly wire: MortalWire;
  readonly rig: Rig;
  restarts = 0;
  readonly #scenario: Scenario;
  readonly #judge: Judge;
  readonly #start: StartProcess;
  #process: Process | undefined;

  private constructor(
    scenario: Scenario,
    { rig, judge, options }: { readonly rig: Rig; readonly judge: Judge; readonly options: PlayOptions },
  ) {
    this.#scenario = scenario;
    this.rig = rig;
    this.#judge = judge;
    this.#start = options.start;
    this.wire = new MortalWire(options.death);
  }

  /** Plays it to the end. The rig is to be stopped by the caller. */
  static async of(scenario: Scenario, options: PlayOptions): Promise<Play> {
    const { death, serve = [], lastMs = 0 } = options;
    const attribution = new Attribution();
    const served = kindsOf(scenario);
    const judge = new Judge({
      attribution,
      isServed: (kind) => served.has(kind),
      // A collector that dies takes with it what it remembers, and the next one sees what happened meanwhile as it is.
      remembersOrphaned: death === undefined,
      seesAtOnce: death === undefined,
      seesWhatIsServed: death === undefined,
      listedWithinMs: Number.POSITIVE_INFINITY,
      // A collector may act upon an old fact for ever: here no time passes.
      oldNews: { ms: 0, moreForEachChangeMs: 0 },
      now: () => 0,
      barriers: true,
    });
    const rig = await Rig.start({
      serve: [...scenario.serve, ...serve],
      reached: (userAgent, server) => attribution.handler(userAgent === 'collector' ? 'collector' : 'client', server),
    });
    for (const kind of scenario.custom ?? []) rig.serve(kind);
    const startRevision = (await rig.wait(rig.store.currentRevision())) + 1;
    const watch = await rig.wait(rig.store.watch('/registry/', { startRevision, onEvents: judge.observe }));
    const play = new Play(scenario, { rig, judge, options });
    await scenario.prepare(rig);
    play.#process = await options.start(rig, play.wire, 0);
    await play.#rest();
    for (const step of scenario.steps) {
      await step(rig);
      await play.#rest();
    }
    if (lastMs > 0) await play.#end(lastMs);
    watch.cancel();
    return play;
  }

  /** Writes that should not have been sent, and objects that should not exist. */
  get wrong(): readonly string[] {
    return [...this.#judge.wrong, ...this.#judge.leftovers()];
  }

  /** `Kind namespace/name <- owners`, with what is left on it of a deletion. */
  get left(): readonly string[] {
    const served = kindsOf(this.#scenario);
    return [...this.#judge.objects.values()]
      .filter(({ kind, name }) => served.has(kind) && kind !== 'Namespace' && !BOOTSTRAP.has(name))
      .map(({ kind, namespace, name, metadata: { ownerReferences = [], finalizers = [], deletionTimestamp } }) => {
        const owners = ownerReferences.map((reference) => reference.name).join(' ');
        const rest = [...finalizers, ...(deletionTimestamp ? ['deleting'] : [])];
        const where = namespace === '' ? name : `${namespace}/${name}`;
        return [kind, where, ...(owners === '' ? [] : ['<-', owners]), ...rest].join(' ');
      })
      .toSorted();
  }

  /** Until nothing is left to do; a dead collector is replaced by a new one as soon as it is dead. */
  async #rest(): Promise<void> {
    const { clock, recorder } = this.rig;
    const from = clock.monotonic();
    for (;;) {
      await this.rig.settle();
      if (this.wire.dead && this.restarts === 0) await this.#restart();
      else if (recorder.underWay === 0 && this.#process?.atRest === true) return;
      else if (clock.monotonic() - from > REST_MS) throw new Error('the collector does not come to rest');
      else await this.rig.advance(Math.max(clock.nextTimerInMs ?? 1, 1));
    }
  }

  async #restart(): Promise<void> {
    this.wire.bury();
    await this.#process?.bury();
    this.restarts++;
    this.#process = await this.#start(this.rig, new MortalWire(), this.restarts);
  }

  /** Lets some time pass without work, then ends: a process that dies meanwhile is followed by another, which is stopped. */
  async #end(lastMs: number): Promise<void> {
    await this.#pass(lastMs);
    await this.#rest();
    const stopping = this.#process?.stop();
    await this.#pass(STOP_MS);
    if (this.wire.dead && this.restarts === 0) {
      await this.#rest();
      const last = this.#process?.stop();
      await this.#pass(STOP_MS);
      await last;
    }
    await stopping;
  }

  /** Stops early when the first process dies. */
  async #pass(ms: number): Promise<void> {
    const { clock } = this.rig;
    const end = clock.monotonic() + ms;
    await this.rig.settle();
    while (clock.monotonic() < end && !(this.wire.dead && this.restarts === 0)) {
      await this.rig.advance(Math.min(Math.max(clock.nextTimerInMs ?? ms, 1), end - clock.monotonic()));
    }
  }
}

function kindsOf({ serve, custom = [] }: Scenario): ReadonlySet<string> {
  return new Set([...serve, ...custom].map(({ kind }) => kind));
}

/** Objects that every server starts with. */
const BOOTSTRAP = new Set(['kube-root-ca.crt', 'kubernetes']);
