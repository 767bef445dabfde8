import { afterEach, describe, expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import type { Interceptor, Send } from '../../src/client/interceptor.ts';
import { TransportError } from '../../src/client/transport.ts';
import { Rig, type RunningCollector } from './rig.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { Attribution } from './simulation/attribution.ts';
import { Judge } from './simulation/judge.ts';

/**
 * The collector is killed at every single one of its calls, right before the call reaches the server and right after it took
 * effect but before the answer; then another one starts. Whatever the call was: the end is the same (COL-215, COL-217).
 */
type Moment = 'before' | 'after';

interface Death {
  /** Index of the call. */
  readonly call: number;
  readonly moment: Moment;
}

/** The wire of one process: it ends with the process, and nothing gets through any more. */
class Wire {
  readonly calls: string[] = [];
  readonly #death: Death | undefined;
  #state: 'alive' | 'dead' | 'buried' = 'alive';
  #bury: (() => void)[] = [];

  constructor(death?: Death) {
    this.#death = death;
  }

  get dead(): boolean {
    return this.#state !== 'alive';
  }

  /** What waits for an answer learns that none will come, so that a test can end the dead process. */
  bury(): void {
    this.#state = 'buried';
    for (const each of this.#bury.splice(0)) each();
  }

  readonly intercept: Interceptor = async (request, next) => {
    if (this.dead) return this.#silence();
    const call = this.calls.length;
    this.calls.push(`${request.method} ${request.target.split('?')[0]}`);
    if (call !== this.#death?.call) return this.#answered(request, next);
    if (this.#death.moment === 'after') {
      const { body } = await next(request);
      if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.();
    }
    this.#state = 'dead';
    return this.#silence();
  };

  /** The process may have died while the server was at work. */
  async #answered(request: HttpRequest, next: Send): Promise<HttpResponse> {
    const response = await next(request);
    return this.dead ? this.#silence() : response;
  }

  #silence(): Promise<never> {
    return new Promise((_, reject) => {
      const lost = (): void => reject(new TransportError('reset', 'the process is dead'));
      if (this.#state === 'buried') lost();
      else this.#bury.push(lost);
    });
  }
}

/** Time that a collector may take to come to rest, ms. */
const REST_MS = 120_000;

class Play {
  readonly wire: Wire;
  readonly #scenario: Scenario;
  readonly #rig: Rig;
  readonly #judge: Judge;
  #collector: RunningCollector | undefined;
  restarts = 0;

  private constructor(scenario: Scenario, { rig, judge, wire }: { rig: Rig; judge: Judge; wire: Wire }) {
    this.#scenario = scenario;
    this.#rig = rig;
    this.#judge = judge;
    this.wire = wire;
  }

  /** Plays it to the end. */
  static async of(scenario: Scenario, death?: Death): Promise<Play> {
    const attribution = new Attribution();
    const served = kindsOf(scenario);
    const judge = new Judge({
      attribution,
      isServed: (kind) => served.has(kind),
      // A collector that dies takes with it what it remembers, and the next one sees what happened meanwhile as it is.
      remembersOrphaned: death === undefined,
      seesAtOnce: death === undefined,
      barriers: true,
    });
    rig = await Rig.start({
      serve: scenario.serve,
      reached: (userAgent, server) => attribution.handler(userAgent === 'collector' ? 'collector' : 'client', server),
    });
    for (const kind of scenario.custom ?? []) rig.serve(kind);
    const startRevision = (await rig.wait(rig.store.currentRevision())) + 1;
    const watch = await rig.wait(rig.store.watch('/registry/', { startRevision, onEvents: judge.observe }));
    const play = new Play(scenario, { rig, judge, wire: new Wire(death) });
    await scenario.prepare(rig);
    rig.weather = play.wire.intercept;
    play.#collector = await rig.startCollector();
    await play.#rest();
    for (const step of scenario.steps) {
      await step(rig);
      await play.#rest();
    }
    watch.cancel();
    return play;
  }

  /** What was done and should not have been, and what should not be there. */
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
    const from = this.#rig.clock.monotonic();
    for (;;) {
      await this.#rig.settle();
      if (this.wire.dead && this.restarts === 0) await this.#restart();
      else if (this.#rig.isAtRest) return;
      else if (this.#rig.clock.monotonic() - from > REST_MS) throw new Error('the collector does not come to rest');
      else await this.#rig.advance(Math.max(this.#rig.clock.nextTimerInMs ?? 1, 1));
    }
  }

  async #restart(): Promise<void> {
    const stopping = this.#collector?.stop();
    this.wire.bury();
    await stopping;
    this.#rig.weather = (request, next) => next(request);
    this.#collector = await this.#rig.startCollector();
    this.restarts++;
  }
}

function kindsOf({ serve, custom = [] }: Scenario): ReadonlySet<string> {
  return new Set([...serve, ...custom].map(({ kind }) => kind));
}

/** Objects that every server starts with. */
const BOOTSTRAP = new Set(['kube-root-ca.crt', 'kubernetes']);

let rig: Rig;
let started = false;
afterEach(async () => {
  if (started) await rig.stop();
  started = false;
});

async function played(scenario: Scenario, death?: Death): Promise<Play> {
  if (started) await rig.stop();
  started = false;
  const play = await Play.of(scenario, death);
  started = true;
  return play;
}

describe.each(scenarios)('$name', (scenario) => {
  it('COL-001 ends as it should when nothing happens', async () => {
    const play = await played(scenario);
    expect(play.left).toEqual([...scenario.left].toSorted());
    expect(play.wrong).toEqual([]);
  });

  it.each<Moment>(['before', 'after'])(
    'COL-002 COL-211 COL-215 COL-217 ends the same when the collector is killed %s any of its calls',
    async (moment) => {
      const undisturbed = await played(scenario);
      const { calls } = undisturbed.wire;
      expect(calls.length).toBeGreaterThan(8);
      for (const call of calls.keys()) {
        const play = await played(scenario, { call, moment });
        const what = `killed ${moment} call ${call}: ${calls[call]}`;
        expect(play.wire.calls[call], what).toBe(calls[call]);
        expect(play.restarts, what).toBe(1);
        expect(play.left, what).toEqual(undisturbed.left);
        expect(play.wrong, what).toEqual([]);
      }
    },
  );
});
