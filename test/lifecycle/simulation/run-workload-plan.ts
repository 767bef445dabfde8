import type { Logger } from '../../../src/base/logs/logger.ts';
import { Network } from '../../collector/simulation/network.ts';
import type { StreamStep } from '../../collector/simulation/plan.ts';
import type { Outcome } from '../../collector/simulation/run-plan.ts';
import { ControllersProcess } from './controllers-process.ts';
import { unsatisfied, wrongAtRest } from './rest-judge.ts';
import { WorkloadCluster } from './workload-cluster.ts';
import { ArmedFaults } from '../../collector/simulation/armed-faults.ts';
import { meantForWorkload } from './workload-faults.ts';
import { WorkloadJudge } from './workload-judge.ts';
import { everyAnswerArrives, type UserStep, type WorkloadPlan, type WorkloadStep } from './workload-plan.ts';
import { refOf, WorkloadUsers } from './workload-users.ts';

/** Nothing changes for so long: longer than a pod on a node that is gone stays (LIFE-056). */
const QUIET_MS = 100_000;
/** Everything comes to rest within this time after the storm: a Job's longest pause between two pods is shorter. */
const REST_MS = 1_800_000;
/** Fake milliseconds between two checks of whether the workloads are as specified. */
const LOOK_MS = 5000;
/** The longest that a ReplicaSet may have another number of pods: a request that nobody answers, and the pauses after failures. */
const UNSATISFIED_MS = 90_000;
/** Requests of all controllers while nothing changes: discovery, lists that confirm, and deletions of events. */
const MOST_CALLS = 60;
/** For so long a controller may act on what was so before: the longest request, and the longest lag. */
const STALE_MS = 60_000;
const STOP_MS = 60_000;

export async function runWorkloadPlan(
  plan: WorkloadPlan,
  { trace = false }: { readonly trace?: boolean } = {},
): Promise<Outcome> {
  const run = new WorkloadPlanRun(plan, trace);
  await run.run();
  return run;
}

/** Steps of users after which the pods of a Deployment may be fewer than it needs. */
function disturbsPods(step: UserStep): boolean {
  return !['create', 'roll', 'undo', 'pause', 'resume'].includes(step.do);
}

class WorkloadPlanRun implements Outcome {
  readonly wrong: string[] = [];
  readonly covered = new Set<string>();
  readonly trace: string[] = [];
  readonly #plan: WorkloadPlan;
  readonly #tracing: boolean;
  readonly #cluster: WorkloadCluster;
  readonly #users: WorkloadUsers;
  readonly #armed = new ArmedFaults();
  #process: ControllersProcess | undefined;
  #isCalm = false;
  #calls = 0;

  constructor(plan: WorkloadPlan, tracing: boolean) {
    this.#plan = plan;
    this.#tracing = tracing;
    const isQuiet = plan.latency.oneIn === 0 && plan.latency.lagMs === undefined && plan.steps.every(isUndisturbed);
    this.#cluster = new WorkloadCluster({
      seed: plan.seed,
      nodes: plan.nodes,
      logger: this.#logger,
      judge: (clock) =>
        new WorkloadJudge({
          now: () => clock.monotonic(),
          staleMs: isQuiet ? 0 : STALE_MS,
          everyAnswerArrives: everyAnswerArrives(plan),
        }),
    });
    const { client, judge, clock } = this.#cluster;
    if (tracing) judge.onChange = (line) => this.#note('store', line);
    this.#users = new WorkloadUsers({
      client,
      objects: judge.objects,
      now: () => clock.now(),
      onDelete: (owner, policy) => judge.deleted(owner, policy),
    });
  }

  async run(): Promise<void> {
    try {
      await this.#cluster.start();
      await this.#start();
      for (const step of this.#plan.steps) {
        await this.#step(step);
        this.wrong.push(...this.#cluster.judge.wrong.splice(0));
        if (this.wrong.length > 0) return;
      }
      await this.#calmDown();
      if (this.wrong.length === 0) this.wrong.push(...wrongAtRest(this.#cluster.judge.objects));
    } catch (error) {
      this.wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      this.wrong.push(...this.#cluster.judge.wrong);
      this.#process?.network.calm();
      if (this.#process !== undefined) await this.#cluster.time.waitLong(this.#process.stop(), STOP_MS);
      await this.#cluster.stop();
    }
  }

  async #step(step: WorkloadStep): Promise<void> {
    const { time, judge } = this.#cluster;
    this.covered.add(`step ${step.do}`);
    if (step.do !== 'wait') this.#note('plan', JSON.stringify(step));
    switch (step.do) {
      case 'wait':
        return time.advance(step.ms);
      case 'fault':
        return this.#armed.arm(step, meantForWorkload(step));
      case 'stream':
        return this.#disturb(step);
      case 'crash':
        this.#process?.crash();
        this.#process = undefined;
        await time.advance(step.downMs);
        return this.#start();
      default: {
        if (disturbsPods(step)) judge.rollouts.disturb();
        const outcome = await time.wait(this.#users.do(step));
        this.#note('user', outcome);
        this.covered.add(`user ${step.do}: ${outcome === 'done' ? 'done' : 'refused'}`);
        if ('kind' in step) this.covered.add(`${step.do} ${step.kind}`);
        if ('policy' in step) this.covered.add(`policy ${step.policy}`);
        return time.settle();
      }
    }
  }

  async #disturb(step: StreamStep): Promise<void> {
    const { stream, kind: resource } = step;
    if (stream === 'gone') {
      const on = { on: 'list' as const, ...(resource === undefined ? {} : { resource }) };
      this.#armed.arm({ fault: 'expired', times: 1 }, meantForWorkload(on));
    }
    if (this.#process?.network.disturb(step, resource) === true) this.covered.add(`stream ${stream}`);
    await this.#cluster.time.settle();
  }

  async #start(): Promise<void> {
    const { clock, random, time } = this.#cluster;
    const network = new Network({
      clock,
      random,
      latency: this.#plan.latency,
      encoding: 'protobuf',
      armed: this.#armed,
      onRequest: ({ target }) => {
        if (!target.includes('/events')) this.#calls++;
      },
      onAnswer: ({ method, target }, status) => {
        if (method !== 'GET' && !target.includes('/events')) this.#note('controllers', `${method} ${target} ${status}`);
      },
      onFault: (fault) => {
        this.covered.add(`fault ${fault}`);
        this.#note('network', fault);
      },
    });
    if (this.#isCalm) network.calm();
    const connect = (): ReturnType<WorkloadCluster['connect']> => this.#cluster.connect();
    this.#process = await time.wait(ControllersProcess.start({ clock, random, time, connect }, network, this.#logger));
    await time.settle();
  }

  /** The storm is over, no CronJob starts anything more, and time passes until nothing changes. */
  async #calmDown(): Promise<void> {
    const { judge, time, clock, client } = this.#cluster;
    this.#isCalm = true;
    this.#armed.clear();
    this.#process?.network.calm();
    for (const cronJob of judge.objects.of('CronJob')) {
      const patch = { type: 'application/merge-patch+json', body: { spec: { suspend: true } } } as const;
      await time.wait(client.patch(refOf(cronJob), patch));
    }
    const until = clock.monotonic() + REST_MS;
    const since = new Map<string, number>();
    let [changes, calls, quietSince] = [-1, 0, 0];
    while (clock.monotonic() < until) {
      if (judge.changes !== changes) [changes, calls, quietSince] = [judge.changes, this.#calls, clock.monotonic()];
      if (clock.monotonic() - quietSince > QUIET_MS) {
        if (this.#calls - calls > MOST_CALLS) this.wrong.push(`${this.#calls - calls} requests while nothing changes`);
        return;
      }
      this.#lookForHanging(since);
      if (this.wrong.length > 0 || judge.wrong.length > 0) return;
      await time.advance(LOOK_MS);
    }
    this.wrong.push('everything does not come to rest');
  }

  /** LIFE-008: what a controller waits for after its writes is seen within seconds. */
  #lookForHanging(since: Map<string, number>): void {
    const now = this.#cluster.clock.monotonic();
    const lines = new Set(unsatisfied(this.#cluster.judge.objects).values());
    // A line with another number is progress.
    for (const line of since.keys()) if (!lines.has(line)) since.delete(line);
    for (const line of lines) {
      const from = since.get(line) ?? now;
      since.set(line, from);
      if (now - from > UNSATISFIED_MS) this.wrong.push(`LIFE-008 ${line}, and nothing happens`);
    }
  }

  /** Warnings are of what the network does. */
  readonly #logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => this.#note('warning', `${message} ${JSON.stringify(fields ?? {})}`),
    error: (message, fields) => void this.wrong.push(`logged as an error: ${message} ${JSON.stringify(fields ?? {})}`),
    child: () => this.#logger,
  };

  #note(who: string, what: string): void {
    if (this.#tracing) this.trace.push(`${this.#cluster.clock.monotonic()} ${who}: ${what}`);
  }
}

function isUndisturbed({ do: what }: WorkloadStep): boolean {
  return what !== 'fault' && what !== 'stream' && what !== 'crash';
}
