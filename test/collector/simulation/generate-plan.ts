import { type Random, seededRandom } from '../../../src/base/random.ts';
import {
  FAULTS,
  type CollectorPlan,
  type FinalizerName,
  type LatencyPlan,
  type OwnerPlan,
  type Place,
  placeOf,
  type PlaceText,
  placeText,
  type Plan,
  type Policy,
  type RequestClass,
  type Step,
  STREAM_FAULTS,
} from './plan.ts';
import { kindNamed } from './simulated-kinds.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
/** Both are there from the start. */
const NAMESPACES = ['default', 'kube-public'];
const POLICIES: readonly Policy[] = ['Background', 'Foreground', 'Orphan', 'none'];
const REQUESTS: readonly RequestClass[] = [
  ...(['read', 'delete', 'patch', 'write', 'write', 'write', 'intake', 'discovery'] as const),
  ...(['any', 'any', 'any'] as const),
];
/** The longest history. */
const MAX_STEPS = 120;

/** Mean lengths; most histories are short, because short ones are cheap, and shrink to the same. */
const LENGTHS = [2, 3, 3, 4, 4, 5, 6, 6, 9, 14, 40];

/** The plan of a seed. Pure: the same on every machine. */
export function generatePlan(seed: number): Plan {
  return new Generator(seed).plan();
}

/** Remembers roughly what is there, so that most steps concern something. */
class Generator {
  readonly #seed: number;
  readonly #random: Random;
  readonly #kinds: string[];
  readonly #names: readonly string[];
  readonly #namespaces: readonly string[];
  readonly #collectors: CollectorPlan[];
  /** Places where something was created, newest last; some more than once. */
  readonly #made: PlaceText[] = [];
  #there = new Set<PlaceText>();
  readonly #running: boolean[];
  readonly #defined = new Set<string>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
    this.#kinds = this.#pickKinds();
    this.#names = NAMES.slice(0, 2 + this.#random.integer(4));
    this.#namespaces = this.#oneIn(3) ? NAMESPACES : NAMESPACES.slice(0, 1);
    this.#collectors = this.#pickCollectors();
    this.#running = this.#collectors.map(() => true);
  }

  plan(): Plan {
    const random = this.#random;
    const stormy = random.integer(4) > 0;
    const count = this.#length(random.pick(LENGTHS));
    const steps: Step[] = [];
    const defined = this.#kinds.filter((kind) => kindNamed(kind).origin === 'defined');
    for (const kind of defined) if (!this.#oneIn(4)) steps.push(...this.#define(kind));
    while (steps.length < count) steps.push(...this.#step(stormy, defined));
    return {
      seed: this.#seed,
      kinds: this.#kinds.filter((kind) => kindNamed(kind).origin !== 'defined'),
      collectors: this.#collectors,
      latency: this.#latency(stormy),
      steps,
      end: random.pick(['rest', 'rest', 'rest', 'rest', 'resync', 'empty']),
    };
  }

  #oneIn(n: number): boolean {
    return this.#random.integer(n) === 0;
  }

  /** Geometric. */
  #length(mean: number): number {
    let length = 2;
    while (length < MAX_STEPS && !this.#oneIn(mean)) length++;
    return length;
  }

  #pickKinds(): string[] {
    const kinds = [this.#random.pick(['ConfigMap', 'ConfigMap', 'Secret', 'Widget'])];
    const add = (kind: string): void => void (kinds.includes(kind) || kinds.push(kind));
    if (this.#oneIn(2)) add(this.#random.pick(['Secret', 'Widget', 'ConfigMap']));
    if (this.#oneIn(3)) add(this.#random.pick(['ClusterRole', 'ClusterWidget', 'ClusterWidget']));
    if (this.#oneIn(16)) add('ReplicationController');
    if (this.#oneIn(14)) {
      add('Gadget');
      if (this.#oneIn(3)) add('ClusterGadget');
    }
    return kinds;
  }

  #pickCollectors(): CollectorPlan[] {
    const random = this.#random;
    const one = (role: CollectorPlan['role']): CollectorPlan => ({
      role,
      workers: random.pick([1, 2, 5, 20]),
      encoding: this.#oneIn(3) ? 'json' : 'protobuf',
      ...(this.#oneIn(4) ? { barrier: 'off' as const } : {}),
      ...(this.#oneIn(2) ? { records: 'events' as const } : {}),
    });
    const shape = random.integer(10);
    if (shape === 0) return [one('always'), one('always')];
    if (shape === 1) return [one('standby'), one('standby')];
    return [one('always')];
  }

  #latency(stormy: boolean): LatencyPlan {
    if (!stormy && this.#oneIn(2)) return { oneIn: 0, maxMs: 0 };
    return { oneIn: this.#random.pick([0, 1, 2, 4]), maxMs: this.#random.pick([3, 30, 300]) };
  }

  #step(stormy: boolean, defined: readonly string[]): Step[] {
    if (this.#oneIn(40)) return this.#cycle();
    const choice = this.#random.integer(100);
    if (choice < 34) return [this.#create()];
    if (choice < 52) return [this.#delete()];
    if (choice < 63) return [this.#refer()];
    if (choice < 71) return [this.#finalizers()];
    if (choice < 73) return [{ do: 'label', at: this.#place(), value: this.#random.pick(NAMES) }];
    if (choice < 84) return [this.#wait()];
    if (choice < 86 && defined.length > 0) return this.#define(this.#random.pick(defined));
    if (!stormy) return [this.#create()];
    // In time for what the collector does about the next step.
    if (choice < 93) return [this.#fault(), this.#oneIn(2) ? this.#delete() : this.#refer()];
    if (choice < 97) return [this.#stream()];
    return this.#process();
  }

  #create(): Step {
    const place = this.#anyPlace();
    const at = placeText(place);
    const owners = this.#owners(place);
    const finalizers = this.#newFinalizers();
    this.#made.push(at);
    this.#there.add(at);
    return {
      do: 'create',
      at,
      ...(owners.length === 0 ? {} : { owners }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    };
  }

  /** Objects that own each other, deleted in foreground: at once, one after the other, or only one of them. */
  #cycle(): Step[] {
    const kind = this.#random.pick(this.#kinds);
    const namespace = kindNamed(kind).namespaced ? this.#random.pick(this.#namespaces) : '';
    const places = NAMES.slice(0, 2 + this.#random.integer(2)).map((name) => placeText({ kind, namespace, name }));
    const ownedBy = (index: number): OwnerPlan => ({ at: places.at(index - 1)!, block: true });
    const deletions = places.flatMap((at): Step[] => {
      const wait: Step[] = this.#oneIn(2) ? [] : [this.#wait()];
      return this.#oneIn(3) ? [] : [{ do: 'delete', at, policy: 'Foreground' }, ...wait];
    });
    for (const at of places) this.#made.push(at);
    return [
      ...places.map((at, index): Step => ({ do: 'create', at, ...(index === 0 ? {} : { owners: [ownedBy(index)] }) })),
      { do: 'refer', at: places[0]!, owners: [ownedBy(0)] },
      ...deletions,
      ...(this.#oneIn(2) ? [{ do: 'refer', at: this.#random.pick(places), owners: [] } as const] : []),
    ];
  }

  #newFinalizers(): FinalizerName[] {
    const choice = this.#random.integer(24);
    if (choice < 4) return ['hold'];
    if (choice === 4) return ['foregroundDeletion'];
    return choice === 5 ? ['orphan'] : [];
  }

  #delete(): Step {
    const policy = this.#random.pick(POLICIES);
    const at = this.#place();
    if (this.#oneIn(20)) {
      const { kind, namespace } = placeOf(at);
      this.#there = new Set([...this.#there].filter((text) => !text.startsWith(`${kind}/${namespace}/`)));
      return { do: 'deleteAll', kind, namespace, policy };
    }
    this.#there.delete(at);
    return { do: 'delete', at, policy };
  }

  #refer(): Step {
    const at = this.#place();
    const owners = this.#owners(placeOf(at));
    // Now and then to itself.
    if (this.#oneIn(8)) owners.push({ at, block: true });
    return { do: 'refer', at, owners };
  }

  #finalizers(): Step {
    const at = this.#place();
    const choice = this.#random.integer(10);
    if (choice === 0) return { do: 'strip', at };
    return { do: choice < 4 ? 'hold' : 'release', at };
  }

  #wait(): Step {
    const most = this.#random.pick([5, 50, 50, 400, 400, 3000, 35_000]);
    return { do: 'wait', ms: 1 + this.#random.integer(most) };
  }

  #fault(): Step {
    // More than the collector tries by itself (COL-153).
    if (this.#oneIn(16)) return { do: 'fault', fault: 'conflict', on: 'patch', times: 6 };
    const kind = this.#oneIn(4) ? { kind: this.#random.pick(this.#kinds) } : {};
    const on = this.#random.pick(REQUESTS);
    return { do: 'fault', fault: this.#random.pick(FAULTS), on, ...kind, times: this.#random.pick([1, 1, 2, 3, 6]) };
  }

  #stream(): Step {
    const stream = this.#random.pick(STREAM_FAULTS);
    const kind = this.#oneIn(3) ? {} : { kind: this.#random.pick(this.#kinds) };
    const ms = stream === 'hold' ? { ms: 1 + this.#random.integer(this.#random.pick([50, 500, 5000])) } : {};
    return { do: 'stream', stream, ...kind, ...ms };
  }

  #process(): Step[] {
    const random = this.#random;
    const collector = random.integer(this.#collectors.length);
    const { role } = this.#collectors[collector]!;
    if (this.#running[collector] === false) {
      this.#running[collector] = true;
      return [{ do: 'start', collector }];
    }
    if (role === 'standby' && !this.#oneIn(3)) {
      return [{ do: 'lead', collector, overlapMs: random.pick([0, 0, 10, 1000]) }];
    }
    const choice = random.integer(5);
    if (choice === 0) return [{ do: 'partition', collector, ms: 1 + random.integer(20_000) }];
    const end: Step = { do: choice < 3 ? 'crash' : 'stop', collector };
    // Soon back, or later, or only when all is over.
    if (this.#oneIn(2)) return [end, { do: 'start', collector }];
    this.#running[collector] = false;
    return [end];
  }

  #define(kind: string): Step[] {
    if (this.#defined.delete(kind)) return [{ do: 'undefine', kind }];
    this.#defined.add(kind);
    return [{ do: 'define', kind }, ...(this.#oneIn(4) ? [] : [{ do: 'wait', ms: 3000 } as const])];
  }

  /** Mostly something that is there. */
  #place(): PlaceText {
    const there = [...this.#there];
    return there.length > 0 && !this.#oneIn(10) ? this.#random.pick(there) : placeText(this.#anyPlace());
  }

  #anyPlace(): Place {
    const kind = this.#random.pick(this.#kinds);
    const namespace = kindNamed(kind).namespaced ? this.#random.pick(this.#namespaces) : '';
    return { kind, namespace, name: this.#random.pick(this.#names) };
  }

  /** Mostly to what was made in reach, sometimes to nothing, wrongly, or out of reach. */
  #owners({ namespace }: Place): OwnerPlan[] {
    const owners: OwnerPlan[] = [];
    for (let left = this.#random.pick([0, 0, 1, 1, 1, 1, 2, 2, 3]); left > 0; left--)
      owners.push(this.#owner(namespace));
    return owners;
  }

  #owner(namespace: string): OwnerPlan {
    const block = this.#oneIn(2) ? ({ block: true } as const) : {};
    const chance = this.#random.integer(24);
    const near = this.#made.filter((at) => ['', namespace].includes(placeOf(at).namespace));
    const from = chance === 0 ? this.#made : near;
    if (chance === 1 || from.length === 0) return { at: placeText(this.#anyPlace()), before: 9, ...block };
    const named = chance === 2 ? { named: this.#random.pick(NAMES) } : {};
    const before = chance === 3 || chance === 4 ? { before: 1 } : {};
    return { at: this.#random.pick(from.slice(-12)), ...before, ...named, ...block };
  }
}
