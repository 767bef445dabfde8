import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../src/api/status-error.ts';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { sleep } from '../../src/base/clock.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { Interceptor } from '../../src/client/interceptor.ts';
import { answerWith, type Fault, pathNotFound, refuse, resetAfter, resetBefore } from './faults.ts';
import {
  clusterRole,
  clusterWidget,
  configMap,
  namespace,
  refTo,
  refToNothing,
  secret,
  type TestKind,
  widget,
} from './kinds.ts';
import { History } from './history.ts';
import { type Policy, Rig, type RunningCollector } from './rig.ts';

const kinds: readonly TestKind[] = [configMap, secret, widget, clusterRole, clusterWidget];
const names = ['a', 'b', 'c', 'd', 'e'];
const namespaces = ['default', 'n2'];
const policies: readonly Policy[] = ['Background', 'Foreground', 'Orphan'];
/** A finalizer of somebody who gives it up in the end. */
const HOLD = 'x.io/hold';
const STEPS = 60;
/** In ten quiet seconds, with waits of up to two seconds. */
const MOST_CALLS = 100;

interface Place {
  readonly kind: TestKind;
  readonly name: string;
  readonly namespace: string;
}

/** One seed is one history: what clients do, what the network does, and when. */
export class Simulation {
  readonly #random: Random;
  readonly #rig: Rig;
  readonly #history: History;
  /** Everything that was ever created, as it was then: owners to refer to, whether they are still there or not. */
  readonly #made: KubeObject[] = [];
  readonly #log: string[] = [];
  #collector: RunningCollector | undefined;
  #stormy = true;

  private constructor(seed: number, rig: Rig) {
    this.#random = seededRandom(seed);
    this.#rig = rig;
    this.#history = new History(rig.store);
  }

  /** What is wrong with the history of this seed; empty when nothing is. The log tells what was done. */
  static async run(seed: number): Promise<{ readonly wrong: readonly string[]; readonly log: readonly string[] }> {
    const rig = await Rig.start({ seed, serve: [configMap, secret, clusterRole, namespace] });
    const simulation = new Simulation(seed, rig);
    try {
      return { wrong: await simulation.#run(), log: simulation.#log };
    } finally {
      simulation.#stormy = false;
      await rig.advance(1000);
      simulation.#history.stop();
      await rig.stop();
    }
  }

  async #run(): Promise<string[]> {
    const rig = this.#rig;
    rig.serve(widget);
    rig.serve(clusterWidget);
    await rig.create(namespace, 'n2');
    await this.#history.start(rig);
    rig.weather = this.#weather;
    await this.#startCollector();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      if (this.#random.integer(3) === 0) await rig.advance(this.#random.integer(400));
    }
    await this.#calmDown();
    return [...this.#history.wrong, ...this.#unguardedWrites(), ...this.#history.leftovers()];
  }

  async #step(): Promise<void> {
    const choice = this.#random.integer(100);
    if (choice < 38) return this.#create();
    if (choice < 60) return this.#delete();
    if (choice < 76) return this.#editReferences();
    if (choice < 88) return this.#editFinalizers();
    if (choice < 92) return void this.#rig.streams.cut(/./);
    if (choice < 97) return this.#loseTrack();
    return this.#restart();
  }

  async #create(): Promise<void> {
    const place = this.#anyPlace();
    const owners = this.#references(place);
    const finalizers = this.#random.integer(4) === 0 ? [HOLD] : [];
    await this.#try(`create ${show(place)} owned by ${owners.map(({ kind, name }) => `${kind} ${name}`)}`, async () => {
      const { kind, name, namespace } = place;
      this.#made.push(await this.#rig.create(kind, name, { namespace, owners, finalizers }));
    });
  }

  async #delete(): Promise<void> {
    const place = this.#place();
    const policy = this.#random.pick(policies);
    await this.#try(`delete ${show(place)} ${policy}`, async () => {
      const { kind, name, namespace } = place;
      const object = await this.#rig.get(kind, name, namespace);
      if (object === undefined) return;
      this.#history.deletedByClient(object.metadata?.uid ?? '');
      await this.#rig.delete(kind, name, policy, namespace);
    });
  }

  async #editReferences(): Promise<void> {
    const place = this.#place();
    const { kind, name, namespace } = place;
    const ownerReferences = this.#references(place);
    await this.#try(
      `refer ${show(place)} to ${ownerReferences.map(({ kind, name }) => `${kind} ${name}`)}`,
      async () => {
        const object = await this.#rig.get(kind, name, namespace);
        // Now and then to itself.
        if (object !== undefined && this.#random.integer(8) === 0) ownerReferences.push(refTo(object, { block: true }));
        await this.#rig.patch(kind, name, { ownerReferences }, namespace);
      },
    );
  }

  async #editFinalizers(): Promise<void> {
    const place = this.#place();
    const { kind, name, namespace } = place;
    const hold = this.#random.integer(3) === 0;
    await this.#try(`${hold ? 'hold' : 'let go'} ${show(place)}`, async () => {
      const object = await this.#rig.get(kind, name, namespace);
      const finalizers = (object?.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
      await this.#rig.patch(kind, name, { finalizers: hold ? [...finalizers, HOLD] : finalizers }, namespace);
    });
  }

  async #letGo({ kind, name, namespace }: Place): Promise<void> {
    const where = namespace === '' ? undefined : namespace;
    const object = await this.#rig.get(kind, name, where);
    const finalizers = (object?.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
    await this.#rig.patch(kind, name, { finalizers, resourceVersion: object?.metadata?.resourceVersion }, where);
  }

  /** A resource is not seen for a while, and then only by a new list. */
  async #loseTrack(): Promise<void> {
    const { resource } = this.#random.pick(kinds).gvr;
    const target = new RegExp(`/${resource}\\?`);
    this.#log.push(`lose track of ${resource}`);
    this.#rig.faults.on({ target }, refuse(410, 'Expired'), 1 + this.#random.integer(3));
    this.#rig.streams.cut(target);
    await this.#rig.settle();
  }

  async #restart(): Promise<void> {
    this.#log.push('restart');
    this.#stormy = false;
    await this.#rig.advance(100);
    await this.#collector?.stop();
    this.#stormy = true;
    await this.#startCollector();
  }

  async #startCollector(): Promise<void> {
    this.#collector = await this.#rig.startCollector({
      concurrentGcSyncs: 1 + this.#random.integer(5),
      retryCapMs: 2000,
    });
  }

  /** What a client may be told: somebody else was faster, or it can not be. */
  async #try(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#log.push(what);
    } catch (error) {
      if (!isNotFound(error) && !isAlreadyExists(error) && !isInvalid(error) && !isConflict(error)) throw error;
    }
  }

  /** Mostly something that is there. */
  #place(): Place {
    const there = this.#history.objects;
    if (there.length > 0 && this.#random.integer(8) > 0) {
      const { kind, name, namespace } = this.#random.pick(there);
      const found = kinds.find((each) => each.kind === kind);
      if (found !== undefined) return { kind: found, name, namespace };
    }
    return this.#anyPlace();
  }

  #anyPlace(): Place {
    const kind = this.#random.pick(kinds);
    return {
      kind,
      name: this.#random.pick(names),
      namespace: kind.namespaced ? this.#random.pick(namespaces) : '',
    };
  }

  /** Mostly to what was made in reach, sometimes to nothing, wrongly, or out of reach. */
  #references({ namespace }: Place): OwnerReference[] {
    const references: OwnerReference[] = [];
    for (let left = this.#random.integer(3); left > 0; left--) {
      const block = this.#random.integer(2) === 0;
      const chance = this.#random.integer(20);
      const near = this.#made.filter(
        ({ metadata }) => (metadata?.namespace ?? '') === namespace || !metadata?.namespace,
      );
      const from = chance === 0 ? this.#made : near;
      if (chance === 1 || from.length === 0) references.push(refToNothing(configMap, this.#random.pick(names)));
      else {
        const wrong = chance === 2 ? { name: this.#random.pick(names) } : {};
        references.push(refTo(this.#random.pick(from.slice(-12)), { block, ...wrong }));
      }
    }
    return references;
  }

  /** What becomes of a request on its way. */
  readonly #weather: Interceptor = async (asked, next) => {
    const request = inJson(asked);
    if (!this.#stormy) return next(request);
    const random = this.#random;
    if (random.integer(4) === 0) await sleep(this.#rig.clock, random.integer(40), request.signal).catch(() => {});
    if (random.integer(6) === 0) return random.pick(storms)(request, next);
    const response = await next(request);
    if (random.integer(8) === 0) await sleep(this.#rig.clock, random.integer(40), request.signal).catch(() => {});
    return response;
  };

  /** The storm is over, nobody holds anything any more, and time passes. */
  async #calmDown(): Promise<void> {
    this.#stormy = false;
    const rig = this.#rig;
    rig.faults.clear();
    await rig.advance(5000);
    for (const { kind, name, namespace } of this.#history.held(HOLD)) {
      const found = kinds.find((each) => each.kind === kind);
      if (found !== undefined)
        await this.#try(`let go ${kind} ${name}`, () => this.#letGo({ kind: found, name, namespace }));
    }
    // Longer than any back-off of a monitor, so that every watch is up again.
    await rig.advance(70_000);
    await this.#untilNothingChanges();
  }

  /** Some keys are tried again for ever, for example when an object that nobody may touch names two owners by one uid. */
  async #untilNothingChanges(): Promise<void> {
    const { recorder } = this.#rig;
    for (let quiet = 0, periods = 0; quiet < 2; periods++) {
      const [writes, calls] = [recorder.writes.length, recorder.calls.length];
      await this.#rig.advance(10_000);
      quiet = recorder.writes.length === writes ? quiet + 1 : 0;
      if (recorder.calls.length - calls > MOST_CALLS) this.#history.wrong.push('keys are tried again without a pause');
      if (periods > 20) this.#history.wrong.push(`no rest; the last calls: ${recorder.lines.slice(-6).join('; ')}`);
      if (periods > 20) return;
    }
  }

  #unguardedWrites(): string[] {
    return this.#rig.recorder.writes
      .filter(({ body }) => {
        const { preconditions, metadata } = body as {
          preconditions?: { uid?: string };
          metadata?: { uid?: string; resourceVersion?: string };
        };
        return (preconditions?.uid ?? metadata?.uid ?? metadata?.resourceVersion) === undefined;
      })
      .map(({ method, path, body }) => `a write without precondition: ${method} ${path} ${JSON.stringify(body)}`);
  }
}

const storms: readonly Fault[] = [
  resetBefore,
  resetBefore,
  resetAfter,
  resetAfter,
  refuse(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } }),
  refuse(500, 'InternalError'),
  refuse(503, 'ServiceUnavailable'),
  refuse(403, 'Forbidden'),
  refuse(410, 'Expired'),
  pathNotFound,
  refuse(404, 'NotFound'),
  answerWith(200, {}),
  answerWith(502, 'bad gateway'),
];

/**
 * The server loads its encoder of protobuf for each watch, which takes real time, and so would make two runs of a seed
 * differ. Protobuf is what all other tests use.
 */
function inJson(request: HttpRequest): HttpRequest {
  const accept = String(request.headers['accept']).replace(/^application\/vnd\.kubernetes\.protobuf[^,]*,/, '');
  return { ...request, headers: { ...request.headers, accept } };
}

function show({ kind, name, namespace }: Place): string {
  return `${kind.kind} ${namespace}/${name}`;
}
