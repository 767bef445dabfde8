import { type Random, seededRandom } from '../../../src/base/random/random.ts';
import type { LatencyPlan, StreamFaultName } from '../../collector/simulation/plan.ts';
import {
  FATES,
  type Fate,
  POLICIES,
  REQUESTS,
  type UserStep,
  WORKLOAD_FAULTS,
  type WorkloadFaultStep,
  type WorkloadKind,
  type WorkloadPlan,
  type WorkloadRef,
  WORKLOADS,
  type WorkloadStep,
  type WorkloadVariant,
} from './workload-plan.ts';

/**
 * Failures of requests in one history at most. A Deployment that failed fifteen times in a row waits for its next event (LIFE-003), and no
 * history is about that.
 */
const MOST_FAULTS = 12;
const LENGTHS = [3, 5, 8, 12, 20];
const IMAGES = ['one', 'two', 'three'];
const STREAMS: readonly StreamFaultName[] = ['cut', 'end', 'gone', 'errorEvent', 'hold', 'hold'];
const RESOURCES = ['pods', 'pods', 'replicasets', 'deployments', 'jobs', 'statefulsets', 'controllerrevisions'];

/** The plan of a seed. Pure: the same on every machine. */
export function generateWorkloadPlan(seed: number): WorkloadPlan {
  return new Generator(seed).plan();
}

class Generator {
  readonly #seed: number;
  readonly #random: Random;
  readonly #refs: readonly WorkloadRef[];
  readonly #fates: readonly Fate[];
  /** In a history without storms nothing fails on the way. */
  readonly #storms: boolean;
  #faults = 0;

  constructor(seed: number) {
    this.#seed = seed;
    const random = (this.#random = seededRandom(seed));
    const kinds = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, () => this.#kind());
    this.#refs = kinds.map((kind) => ({ kind, name: random.integer(4) === 0 ? 'b' : 'a' }));
    this.#fates = random.integer(3) === 0 ? FATES : ['fine', 'fine', 'slow'];
    this.#storms = random.integer(4) > 0;
  }

  plan(): WorkloadPlan {
    const random = this.#random;
    const steps: WorkloadStep[] = [];
    for (const ref of this.#refs) steps.push(this.#create(ref), ...this.#pause(2));
    const mean = random.pick(LENGTHS);
    const count = 2 + random.integer(2 * mean);
    while (steps.length < count) steps.push(...this.#steps());
    return { seed: this.#seed, latency: this.#latency(), nodes: 1 + random.integer(3), steps };
  }

  #oneIn(n: number): boolean {
    return this.#random.integer(n) === 0;
  }

  /** Deployments are a third of everything. */
  #kind(): WorkloadKind {
    return this.#oneIn(4) ? 'Deployment' : this.#random.pick(WORKLOADS);
  }

  #latency(): LatencyPlan {
    const random = this.#random;
    if (!this.#storms && this.#oneIn(2)) return { oneIn: 0, maxMs: 0 };
    const latency = { oneIn: random.pick([0, 1, 2, 4]), maxMs: random.pick([3, 30, 300, 2000]) };
    return this.#oneIn(3) ? { ...latency, lagMs: random.pick([30, 300, 2000]) } : latency;
  }

  #steps(): WorkloadStep[] {
    const storms = this.#storms ? this.#random.integer(10) : 9;
    if (storms < 2) return [this.#fault(), ...this.#user()];
    if (storms === 2) return [this.#stream()];
    if (storms === 3) return [this.#crash(), ...this.#pause(2)];
    return [...this.#user(), ...this.#pause(2)];
  }

  #pause(oneIn: number): WorkloadStep[] {
    if (!this.#oneIn(oneIn)) return [];
    return [{ do: 'wait', ms: 1 + this.#random.integer(this.#random.pick([5, 50, 500, 4000, 30_000])) }];
  }

  #fault(): WorkloadStep {
    const random = this.#random;
    const left = MOST_FAULTS - this.#faults;
    if (left <= 0) return { do: 'wait', ms: 100 };
    const times = Math.min(left, random.pick([1, 1, 2, 3]));
    this.#faults += times;
    const step: WorkloadFaultStep = {
      do: 'fault',
      fault: random.pick(WORKLOAD_FAULTS),
      on: random.pick(REQUESTS),
      times,
    };
    return this.#oneIn(2) ? { ...step, resource: random.pick(RESOURCES) } : step;
  }

  #stream(): WorkloadStep {
    const random = this.#random;
    const stream = random.pick(STREAMS);
    return {
      do: 'stream',
      stream,
      ...(this.#oneIn(2) ? {} : { kind: random.pick(RESOURCES) }),
      ...(stream === 'hold' ? { ms: 1 + random.integer(random.pick([50, 500, 5000])) } : {}),
    };
  }

  #crash(): WorkloadStep {
    return { do: 'crash', downMs: this.#random.integer(this.#random.pick([1, 100, 5000])) };
  }

  #fate(): Fate {
    return this.#random.pick(this.#fates);
  }

  #create(ref: WorkloadRef): UserStep {
    const replicas = this.#random.pick([0, 1, 1, 2, 3, 3, 4, 5]);
    return { ...ref, do: 'create', replicas, fate: this.#fate(), ...this.#variant(ref.kind) };
  }

  #variant(kind: WorkloadKind): WorkloadVariant {
    const random = this.#random;
    const grace = this.#oneIn(4) ? { grace: random.pick([1, 5, 30]) } : {};
    switch (kind) {
      case 'Deployment': {
        const surge = random.pick([0, 1, 2, '25%', '50%', '100%']);
        const unavailable = random.pick(surge === 0 ? [1, 2, '50%'] : [0, 0, 1, 2, '25%']);
        const strategy = this.#oneIn(5) ? 'Recreate' : { maxSurge: surge, maxUnavailable: unavailable };
        return this.#oneIn(3) ? grace : { strategy, ...grace };
      }
      case 'StatefulSet':
        return {
          ...(this.#oneIn(3) ? { management: 'Parallel' as const } : {}),
          ...(this.#oneIn(3) ? { claims: random.pick(['Retain', 'Delete'] as const) } : {}),
          ...grace,
        };
      case 'Job':
        return {
          ...(this.#oneIn(3) ? { indexed: true as const } : {}),
          ...(this.#oneIn(3) ? { ttl: random.pick([0, 5, 20]) } : {}),
          ...grace,
        };
      case 'CronJob':
        return this.#oneIn(3) ? { ttl: random.pick([0, 5, 20]) } : {};
      default:
        return grace;
    }
  }

  #user(): WorkloadStep[] {
    const random = this.#random;
    const ref = random.pick(this.#refs);
    const which = random.integer(8);
    const policy = random.pick(POLICIES);
    switch (random.integer(20)) {
      case 0:
      case 1:
      case 2:
        return [{ ...ref, do: 'roll', image: random.pick(IMAGES), fate: this.#fate() }];
      case 3:
      case 4:
      case 5:
        return [{ ...ref, do: 'scale', replicas: random.integer(6) }];
      case 6:
        return [{ ...ref, do: 'pause' }, ...this.#pause(2), { ...ref, do: 'resume' }];
      case 7:
        return [{ do: 'undo', name: ref.name }];
      case 8:
        return [{ ...ref, do: 'delete', policy }];
      case 9:
        return [{ ...ref, do: 'delete', policy }, ...this.#pause(2), this.#create(ref)];
      case 10:
        return [{ do: 'deletePod', which }];
      case 11:
        return [{ do: 'failPod', which }];
      case 12:
        return [{ do: 'releasePod', which }, ...this.#pause(2), { do: 'readoptPod', which: random.integer(8) }];
      case 13:
        return [{ do: 'stripPod', which }];
      case 14:
        return [{ ...ref, do: 'loosePod' }];
      case 15:
        return [{ do: 'deleteReplicaSet', which, policy }];
      case 16:
        return [{ do: 'releaseReplicaSet', which }, ...this.#pause(2), { do: 'readoptReplicaSet', which }];
      case 17:
        return [{ do: 'deleteClaim', which }];
      case 18:
        return this.#node(which);
      default:
        return this.#oneIn(6) ? [{ do: 'deleteNamespace' }] : [this.#create(ref)];
    }
  }

  #node(which: number): WorkloadStep[] {
    const pause = this.#pause(1);
    if (this.#oneIn(2)) return [{ do: 'cordon', which }, ...pause, { do: 'uncordon', which }];
    const comesBack = this.#oneIn(2) ? [...pause, { do: 'addNode', which } as const] : [];
    return [{ do: 'deleteNode', which }, ...comesBack];
  }
}
