import type { HttpRequest } from '../../../src/base/http-message.ts';
import type { Logger } from '../../../src/base/logs/logger.ts';
import type { Transport } from '../../../src/client/http/transport.ts';
import type { Decision } from '../../../src/collector/workers/decision.ts';
import { Clients, HOLD } from './clients.ts';
import { CollectorProcess } from './collector-process.ts';
import { wrongClaims } from './decision-judge.ts';
import { ArmedFaults } from './armed-faults.ts';
import { Network } from './network.ts';
import type { ClientStep, Plan, ServerStep, Step } from './plan.ts';
import { classify, meantFor } from './request-class.ts';
import { type ClusterBackup, isQuiet, SimulatedCluster } from './simulated-cluster.ts';
import { KINDS, kindNamed, LEASES } from './simulated-kinds.ts';

export interface Outcome {
  /** The errors in the history; empty when there are none. */
  readonly wrong: readonly string[];
  /** The labels that occurred, such as `fault twice` or `reason ownersAbsent`. */
  readonly covered: ReadonlySet<string>;
  /** Everything that happened, in order; empty unless asked for. */
  readonly trace: readonly string[];
}

/** Fake time within which everything must have come to rest after the storm, ms. */
const REST_MS = 300_000;
/**
 * No write for so long, while keys are tried again: what is left is what nobody may touch (COL-112, COL-113), ms. A kind that went counts
 * as gone with the first pass of discovery that begins ten seconds after an outage, 40 s later at most (designs/0011).
 */
const QUIET_MS = 45_000;
/** Requests in that time by keys that are tried again for ever, with waits of up to two seconds. */
const MOST_CALLS = 16 * (QUIET_MS / 1000);
/** Longer than the period of discovery. */
const RESYNC_MS = 31_000;
const STOP_MS = 60_000;
/** Requests that were under way when the lies ended are answered by then, ms. */
const UNDER_WAY_MS = 10_000;
/** Two workers, one that releases dependents and one that decides about them, may have read the same version of an object. */
const OWN_WORKERS_MS = 1000;

export async function runPlan(plan: Plan, { trace = false }: { readonly trace?: boolean } = {}): Promise<Outcome> {
  const run = new PlanRun(plan, trace);
  await run.run();
  return run;
}

class PlanRun implements Outcome {
  readonly wrong: string[] = [];
  readonly covered = new Set<string>();
  readonly trace: string[] = [];
  readonly #plan: Plan;
  readonly #tracing: boolean;
  readonly #cluster: SimulatedCluster;
  readonly #clients: Clients;
  readonly #armed = new ArmedFaults();
  /** By index of the plan; undefined while none runs. */
  readonly #processes: (CollectorProcess | undefined)[];
  /** By path: when the collector last changed what is there. */
  readonly #written = new Map<string, number>();
  #backup: { readonly cluster: ClusterBackup; readonly clients: () => void } | undefined;
  #started = 0;
  #calls = 0;
  #writes = 0;

  constructor(plan: Plan, tracing: boolean) {
    this.#plan = plan;
    this.#tracing = tracing;
    const logger = errorLogger((message) => this.wrong.push(`logged as an error: ${message}`));
    this.#cluster = new SimulatedCluster(plan, logger);
    this.#clients = new Clients(this.#cluster.client);
    this.#processes = plan.collectors.map(() => undefined);
    this.#logger = logger;
  }
  readonly #logger: Logger;

  async run(): Promise<void> {
    const { steps, collectors } = this.#plan;
    this.covered.add(`collectors ${shapeOf(this.#plan)}`);
    try {
      await this.#cluster.start();
      collectors.forEach((_, index) => this.#start(index));
      this.#processes.find((_, index) => collectors[index]?.role === 'standby')?.lead();
      await this.#cluster.settle();
      for (const step of steps) {
        await this.#step(step);
        this.#lookInside();
        if (this.wrong.length > 0) return;
      }
      await this.#calmDown();
      if (this.wrong.length === 0) await this.#judgeRest();
    } catch (error) {
      this.wrong.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      this.wrong.push(...this.#cluster.judge.wrong);
      this.#coverRestores();
      for (const lie of this.#cluster.lies?.told ?? []) this.covered.add(`answered ${lie}`);
      for (const place of this.#cluster.judge.requests.optionsSeenIn) this.covered.add(`options in ${place}`);
      await this.#end();
    }
  }

  async #step(step: Step): Promise<void> {
    this.covered.add(`step ${step.do}`);
    switch (step.do) {
      case 'wait':
        return this.#cluster.advance(step.ms);
      case 'fault':
        return this.#armed.arm(
          step,
          meantFor(step.on, step.kind === undefined ? undefined : kindNamed(step.kind).gvr.resource),
        );
      case 'stream':
        return this.#disturb(step);
      case 'crash': {
        this.#processes[step.collector]?.crash();
        this.#processes[step.collector] = undefined;
        return this.#cluster.settle();
      }
      case 'stop': {
        const process = this.#processes[step.collector];
        this.#processes[step.collector] = undefined;
        if (process !== undefined) await this.#cluster.waitLong(process.stop(), STOP_MS);
        return;
      }
      case 'start':
        if (this.#processes[step.collector] === undefined) this.#start(step.collector);
        return this.#cluster.settle();
      case 'lead':
        return this.#lead(step.collector, step.overlapMs);
      case 'partition': {
        const network = this.#processes[step.collector]?.network;
        network?.fail('partitioned');
        this.#cluster.clock.setTimer(step.ms, () => network?.heal());
        return this.#cluster.settle();
      }
      case 'backup':
        return this.#backUp();
      case 'restore':
        return this.#restore(step);
      case 'lie': {
        if (!(await this.#clusterIsKnown())) return;
        await this.#cluster.lie(step);
        this.covered.add(`lie ${step.lie}`);
        for (const process of this.#processes) process?.network.breakConnections(step.breaks);
        return this.#cluster.settle();
      }
      default:
        return this.#client(step);
    }
  }

  async #backUp(): Promise<void> {
    this.#backup = { cluster: await this.#cluster.wait(this.#cluster.backUp()), clients: this.#clients.remember() };
    await this.#cluster.settle();
  }

  async #restore(step: ServerStep & { readonly do: 'restore' }): Promise<void> {
    if (this.#backup === undefined) return;
    const { cluster, clients } = this.#backup;
    if (!(await this.#seeLeases())) return;
    const { judge } = this.#cluster;
    const underWay = this.#processes.some((process) => process?.network.isWriting === true);
    this.#note('server', 'goes away');
    await this.#cluster.restore(cluster, step);
    clients();
    this.#note('server', 'is back');
    if (step.stay !== undefined) this.covered.add('restore that leaves watches open');
    this.covered.add(`restore ${step.bump ? 'to a higher version' : 'to a lower version'}`);
    if (underWay) this.covered.add('restore during a write');
    if (judge.tookBack) this.covered.add('restore that takes a deletion back');
  }

  /**
   * Renews the leases before the restore, so that each collector that watches resources of unknown servers also gets an event of
   * kube-apiserver's own: in a real cluster there is one every few seconds. In the other resources alone a version that goes backwards is
   * not noticed, because they may be of a server with its own way of counting (designs/0011).
   */
  async #seeLeases(): Promise<boolean> {
    const { clock } = this.#cluster;
    await this.#cluster.wait(this.#cluster.renewLease());
    if (this.#plan.kinds.every((kind) => KINDS.get(kind)?.origin === 'builtin') && !this.#definesKinds) return true;
    const isSeen = (): boolean =>
      this.#processes.every((process) => process?.network.watched.includes(LEASES.gvr.resource) !== false);
    const until = clock.monotonic() + REST_MS;
    while (!isSeen()) {
      const next = clock.nextTimerInMs ?? REST_MS;
      if (clock.monotonic() + next > until) return false;
      await this.#cluster.advance(next);
      await this.#cluster.settle();
    }
    return true;
  }

  /** Notes how a restored server answered a watch from a version that is still to come. */
  #coverRestores(): void {
    if (!this.covered.has('step restore')) return;
    if (this.#cluster.wasSilent) this.covered.add('restore that silences a watch');
    if (this.#cluster.hasRefused) this.covered.add('restore that refuses a watch');
  }

  get #definesKinds(): boolean {
    return this.#plan.steps.some((step) => step.do === 'define');
  }

  async #client(step: ClientStep): Promise<void> {
    const outcome = await this.#cluster.wait(this.#clients.do(step));
    this.covered.add(`client ${step.do}: ${outcome}`);
    if ('policy' in step) this.covered.add(`policy ${step.policy}`);
    this.#note('client', `${JSON.stringify(step)}: ${outcome}`);
  }

  async #disturb(step: Step & { readonly do: 'stream' }): Promise<void> {
    const resource = step.kind === undefined ? undefined : kindNamed(step.kind).gvr.resource;
    if (step.stream === 'gone') {
      this.#armed.arm({ fault: 'expired', times: 1 }, meantFor('intake', resource));
    }
    for (const process of this.#processes) {
      if (process?.network.disturb(step, resource) === true) this.covered.add(`stream ${step.stream}`);
    }
    await this.#cluster.settle();
  }

  #start(index: number): void {
    const { collectors, latency } = this.#plan;
    const plan = collectors[index];
    if (plan === undefined || this.#cluster.lies?.leadsElsewhere === true) return;
    const { clock, random } = this.#cluster;
    const transport = this.#connect();
    this.covered.add(`encoding ${plan.encoding}`);
    this.covered.add(`intake ${plan.intake ?? 'watchList'}`);
    this.covered.add(`news ${latency.lagMs === undefined ? 'at once' : 'late'}`);
    const network = new Network({
      clock,
      random,
      latency,
      encoding: plan.encoding,
      intake: plan.intake,
      armed: this.#armed,
      server: this.#cluster.presence,
      lies: this.#cluster.lies,
      onRequest: ({ method, target }) => {
        this.#calls++;
        if (method !== 'GET' && !target.includes('/events')) this.#writes++;
      },
      onAnswer: (request, status) => {
        if (isQuiet(this.#plan)) this.#answeredInQuiet(request, status);
        this.#note(`collector ${index}`, `${request.method} ${request.target} ${status}`);
      },
      onFault: (fault) => {
        this.covered.add(`fault ${fault}`);
        this.#note('network', fault);
      },
    });
    const logger = this.#logger;
    const onDecision = (decision: Decision): void => this.#decided(index, decision);
    this.#processes[index] = new CollectorProcess({
      plan,
      network,
      transport,
      clock,
      random,
      logger,
      onDecision,
      asksWho: this.#cluster.lies !== undefined,
    });
  }

  /** The next process of the plan. */
  #connect(): Transport {
    const { versions = [] } = this.#plan;
    const version = versions[Math.min(this.#started++, versions.length - 1)];
    if (version === undefined) this.covered.add('version nothing');
    return this.#cluster.connect(version, (what) => {
      this.covered.add(`version ${what}`);
      this.#note('server', `version ${what}`);
    });
  }

  /** Nothing came in between, so that what the collector knew was so; unless it was another worker of its own. */
  #answeredInQuiet({ method, target }: HttpRequest, status: number): void {
    const { what } = classify(method, target);
    if (what !== 'delete' && what !== 'patch') return;
    const now = this.#cluster.clock.monotonic();
    const path = target.replace(/\?.*/, '');
    if (status < 300) this.#written.set(path, now);
    // Which patches a resource takes is learnt by asking.
    if (status < 300 || status === 415) return;
    if (now - (this.#written.get(path) ?? Number.NEGATIVE_INFINITY) < OWN_WORKERS_MS) return;
    this.wrong.push(`a write was refused although nothing came in between: ${method} ${target} ${status}`);
  }

  async #lead(index: number, overlapMs: number): Promise<void> {
    const next = this.#processes[index];
    if (next === undefined || this.#plan.collectors[index]?.role !== 'standby') return;
    const before = this.#processes.filter((process) => process !== next);
    next.lead();
    for (const process of before) process?.loseLease(overlapMs);
    await this.#cluster.settle();
  }

  #decided(index: number, decision: Decision): void {
    const { identity, verdict, reason, actions } = decision;
    this.covered.add(`reason ${reason}`);
    // After a lie a claim may be false; only writes are judged.
    if (this.#cluster.lies === undefined) this.wrong.push(...wrongClaims(decision, this.#cluster.judge));
    if (decision.barrier === 'gaveUp') {
      this.covered.add('barrier that gave up');
      this.#cluster.judge.barrierGaveUp(decision.uid);
    }
    if (!this.#tracing) return;
    const what = actions.map(({ action }) => action).join(' ');
    const { kind, namespace, name } = identity ?? { kind: '?', namespace: '', name: '' };
    this.#note(`collector ${index}`, `${kind} ${namespace}/${name}: ${verdict} ${reason} ${what}`);
  }

  /** COL-051: after every step. */
  #lookInside(): void {
    for (const process of this.#processes) {
      for (const { uid, problem } of process?.collector.consistency.invariants() ?? []) {
        this.wrong.push(`the graph is wrong in itself: ${problem} ${uid}`);
      }
    }
    this.wrong.push(...this.#cluster.judge.wrong.splice(0));
  }

  /** The storm is over, nobody holds anything any more, and time passes until nothing happens. */
  async #calmDown(): Promise<void> {
    this.#armed.clear();
    if (this.#cluster.lies !== undefined) await this.#endLies();
    await this.#oneLeads();
    for (const process of this.#processes) process?.network.calm();
    await this.#release();
    await this.#untilRest();
    if (this.#plan.end === 'empty') await this.#deleteEverything();
    if (this.#plan.end === 'resync') {
      const writes = this.#writes;
      await this.#cluster.advance(RESYNC_MS);
      if (this.#writes !== writes) this.wrong.push('something was written after everything had come to rest');
    }
    this.covered.add(`end ${this.#plan.end}`);
  }

  /** A process that meets the wrong cluster first takes that for its own, and the history would be about that one. */
  async #clusterIsKnown(): Promise<boolean> {
    const { clock } = this.#cluster;
    const until = clock.monotonic() + REST_MS;
    while (this.#processes.some((process) => process?.network.knowsCluster === false)) {
      const next = clock.nextTimerInMs ?? REST_MS;
      if (clock.monotonic() + next > until) return false;
      await this.#cluster.advance(next);
      await this.#cluster.settle();
    }
    return true;
  }

  /** Lies end, and each process that met another cluster is started again. */
  async #endLies(): Promise<void> {
    this.#cluster.lies?.end();
    await this.#cluster.advance(UNDER_WAY_MS);
    await this.#cluster.settle();
    for (const process of this.#processes) process?.network.breakConnections('all');
    for (const process of this.#processes) process?.network.expireWatches();
    for (const [index, process] of this.#processes.entries()) {
      if (process?.metOther !== true) continue;
      this.covered.add('another cluster was met');
      await this.#cluster.waitLong(process.stop(), STOP_MS);
      this.#start(index);
    }
    await this.#cluster.settle();
  }

  /** At least one collector runs, and of those that stand by one leads. */
  async #oneLeads(): Promise<void> {
    if (this.#processes.every((process) => process === undefined)) this.#start(0);
    const { collectors } = this.#plan;
    const acts = this.#processes.some(
      (process, index) => process !== undefined && (collectors[index]?.role === 'always' || process.leads),
    );
    if (!acts) this.#processes.find((process) => process !== undefined)?.lead();
    await this.#cluster.settle();
  }

  async #release(): Promise<void> {
    const held = [...this.#cluster.judge.objects.values()].filter(
      ({ metadata }) => metadata.finalizers?.includes(HOLD) === true,
    );
    for (const { kind, namespace, name } of held) {
      // A collector may come in between; nobody else does.
      for (let tries = 0; tries < 5; tries++) {
        if ((await this.#cluster.wait(this.#clients.release({ kind, namespace, name }))) !== 'conflict') break;
      }
    }
  }

  async #deleteEverything(): Promise<void> {
    const { judge } = this.#cluster;
    const there = [...judge.objects.values()].filter(({ kind }) => this.#cluster.isServed(kind));
    for (const { kind, namespace, name } of there) {
      const at = `${kind}/${namespace}/${name}`;
      await this.#cluster.wait(this.#clients.do({ do: 'strip', at }));
      await this.#cluster.wait(this.#clients.do({ do: 'delete', at, policy: 'Background' }));
    }
    await this.#untilRest();
    const left = [...judge.objects.values()].filter(({ kind }) => kind !== 'Event').length;
    for (const [index, process] of this.#processes.entries()) {
      if (process === undefined) continue;
      const { nodes, gone, references, nameBytes, unlisted } = process.collector.consistency.counts;
      const acts = this.#plan.collectors[index]?.role === 'always' || process.leads;
      // A standby reads nothing, and keeps objects that a list lacked and to which something referred (designs/0021-what-a-list-lacks.md).
      if (!acts && unlisted > 0) continue;
      if (nodes === left && gone + references === 0 && (left > 0 || nameBytes === 0)) continue;
      const rest = `${nodes} nodes, ${gone} tombstones, ${references} references and ${nameBytes} bytes of names`;
      this.wrong.push(`${rest} of ${left} objects`);
    }
  }

  /** Every watch is open, nothing is queued; or nothing was written for long, and nothing is tried without a pause. */
  async #untilRest(): Promise<void> {
    const { clock } = this.#cluster;
    const until = clock.monotonic() + REST_MS;
    let [quietSince, writes, calls] = [clock.monotonic(), this.#writes, this.#calls];
    let busy = true;
    for (;;) {
      await this.#cluster.settle();
      if (this.#isAtRest()) return;
      const wasBusy = busy;
      busy = this.#writes !== writes || !this.#allWatched();
      if (busy || wasBusy) [quietSince, writes, calls] = [clock.monotonic(), this.#writes, this.#calls];
      if (clock.monotonic() - quietSince > QUIET_MS) {
        this.covered.add('rest with keys that are tried again');
        if (this.#calls - calls > MOST_CALLS) this.wrong.push('keys are tried again without a pause');
        if (this.#isWorkLeft() && !this.#cluster.judge.hasUntouchables) {
          this.wrong.push('keys are tried again that nothing keeps from being decided');
        }
        return;
      }
      const step = clock.nextTimerInMs ?? REST_MS;
      if (clock.monotonic() + step > until) {
        this.wrong.push('everything does not come to rest');
        return;
      }
      await this.#cluster.advance(step);
    }
  }

  #isAtRest(): boolean {
    return this.#allWatched() && this.#processes.every((process) => process?.collector.atRest !== false);
  }

  /** True if a process that decides has work left; a standby keeps the work for the leader. */
  #isWorkLeft(): boolean {
    return this.#processes.some(
      (process, index) =>
        process?.collector.atRest === false && (this.#plan.collectors[index]?.role === 'always' || process.leads),
    );
  }

  #allWatched(): boolean {
    const wanted = this.#cluster.watchable.join(' ');
    // A collector has not learnt of the restore yet while its watch waits for a version that the restored server has not reached.
    if (this.#cluster.isSilent) return false;
    return this.#processes.every((process) => {
      if (process === undefined) return true;
      const { network, collector } = process;
      const monitored = collector.consistency.resources.map(({ resource }) => resource).toSorted();
      return network.quiet && network.watched.join(' ') === wanted && monitored.join(' ') === wanted;
    });
  }

  async #judgeRest(): Promise<void> {
    this.wrong.push(...this.#cluster.judge.leftovers(), ...this.#cluster.judge.leftBehind);
    this.#lookInside();
    for (const process of this.#processes) {
      if (process === undefined) continue;
      const report = await this.#cluster.wait(process.collector.consistency.look(new AbortController().signal));
      for (const { uid, difference, resource } of report.differences) {
        this.wrong.push(`the graph differs from a fresh list of ${resource.resource}: ${difference} ${uid}`);
      }
      for (const { resource } of report.unread) this.wrong.push(`${resource} could not be listed`);
    }
  }

  async #end(): Promise<void> {
    for (const process of this.#processes) {
      process?.network.calm();
      if (process !== undefined) await this.#cluster.waitLong(process.stop(), STOP_MS);
    }
    await this.#cluster.stop();
  }

  #note(who: string, what: string): void {
    if (this.#tracing) this.trace.push(`${this.#cluster.clock.monotonic()} ${who}: ${what}`);
  }
}

function shapeOf({ collectors }: Plan): string {
  if (collectors.length === 1) return 'one';
  return collectors.some(({ role }) => role === 'standby') ? 'leader and standby' : 'two';
}

/** Hands over what should never be logged. */
function errorLogger(onError: (message: string) => void): Logger {
  const self: Logger = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (message, fields) => onError(`${message} ${JSON.stringify(fields ?? {})}`),
    child: () => self,
  };
  return self;
}
