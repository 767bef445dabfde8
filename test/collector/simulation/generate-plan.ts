import { type Random, seededRandom } from '../../../src/base/random/random.ts';
import { Disturbances } from './disturbances.ts';
import { pickMotif } from './motifs.ts';
import {
  type CollectorPlan,
  type FinalizerName,
  placeOf,
  type Plan,
  type Step,
  type VersionPlan,
  VERSIONS,
} from './plan.ts';
import { PlanGround } from './plan-ground.ts';
import { type Choice, definesMore, pickChoice, pickStyle, type PlanStyle } from './plan-style.ts';
import { RESTORES_ONE_IN, restoreSteps } from './restores.ts';
import { type LieName, lieSteps, LIES } from './lies/lie-plan.ts';
import { kindNamed } from './simulated-kinds.ts';

/** The longest history. */
const MAX_STEPS = 120;

/** Mean lengths; most histories are short, because short ones are cheap, and shrink to the same. */
const LENGTHS = [2, 3, 3, 4, 4, 5, 6, 6, 9, 14, 40];

/** Steps that mostly have no effect before objects exist. */
const NEEDS_OBJECTS: ReadonlySet<Choice> = new Set(['delete', 'refer', 'finalizers', 'label', 'fault']);

const isDefined = (kind: string): boolean => kindNamed(kind).origin === 'defined';

function builtinFor(kind: string): string {
  if (kindNamed(kind).origin === 'builtin') return kind;
  return kindNamed(kind).namespaced ? 'Secret' : 'ClusterRole';
}

/** The plan of a seed. Pure: the same on every machine. */
export function generatePlan(seed: number, regime?: Regime): Plan {
  return new Generator(seed, regime).plan();
}

/**
 * A run may ask that each of its histories has this lie, any lie (`lies`), a restore of a backup, or one that leaves watches open at the
 * server of before (`oldServer`).
 */
export const REGIMES = [...LIES, 'restore', 'oldServer', 'lies'] as const;
export type Regime = (typeof REGIMES)[number];

/** One history in so many has a lie. */
const LIES_ONE_IN = 40;

class Generator {
  readonly #seed: number;
  readonly #random: Random;
  readonly #style: PlanStyle;
  readonly #ground: PlanGround;
  readonly #collectors: CollectorPlan[];
  readonly #disturbances: Disturbances;
  readonly #defined = new Set<string>();

  readonly #regime: Regime | undefined;

  constructor(seed: number, regime: Regime | undefined) {
    this.#seed = seed;
    this.#regime = regime;
    this.#random = seededRandom(seed);
    const style = pickStyle(this.#random);
    const picked = this.#pickKinds();
    // Only of kube-apiserver's own resources the versions are certain to be of one storage (version-for.ts).
    const kinds = this.#lie()?.startsWith('laggingReplica') === true ? [...new Set(picked.map(builtinFor))] : picked;
    // Without draws of its own: the plan of a seed that defines nothing is what it was.
    this.#style = kinds.some(isDefined) ? definesMore(style) : style;
    this.#ground = new PlanGround(this.#random, this.#style, kinds);
    this.#collectors = this.#pickCollectors();
    this.#disturbances = new Disturbances(this.#random, this.#style, this.#ground.kinds, this.#collectors);
  }

  plan(): Plan {
    const random = this.#random;
    const { kinds } = this.#ground;
    const count = this.#length(random.pick(LENGTHS));
    const steps: Step[] = [];
    const defined = kinds.filter(isDefined);
    for (const kind of defined) if (!this.#oneIn(4)) steps.push(...this.#define(kind));
    while (steps.length < count) {
      const choice = pickChoice(random, this.#style);
      const isForNothing = this.#ground.isEmpty && NEEDS_OBJECTS.has(choice) && !this.#oneIn(8);
      steps.push(...this.#steps(isForNothing ? 'create' : choice));
    }
    // From a source of its own: the plan of a seed that restores nothing is what it was.
    const restores = seededRandom(~this.#seed).integer(RESTORES_ONE_IN) === 0;
    const isAskedFor = this.#regime === 'restore' || this.#regime === 'oldServer';
    if (this.#regime === undefined ? restores : isAskedFor) steps.push(...this.#restored());
    const lie = this.#lie();
    if (lie !== undefined) steps.push(...this.#liedTo(lie));
    return {
      seed: this.#seed,
      kinds: kinds.filter((kind) => !isDefined(kind)),
      collectors: this.#collectors,
      latency: this.#style.latency,
      steps,
      end: random.pick(['rest', 'rest', 'rest', 'rest', 'resync', 'empty']),
      // Drawn last: of seeds that were written down all else is what it was.
      ...this.#pickVersions(),
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
    if (this.#oneIn(8)) {
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
      ...(this.#oneIn(4) ? { intake: 'list' as const } : {}),
      ...(this.#oneIn(4) ? { absences: 1 } : {}),
      ...(this.#oneIn(4) ? { calls: random.pick([1, 2]) } : {}),
    });
    const shape = random.integer(10);
    if (shape === 0) return [one('always'), one('always')];
    if (shape === 1) return [one('standby'), one('standby')];
    return [one('always')];
  }

  #pickVersions(): Pick<Plan, 'versions'> {
    if (this.#oneIn(8)) return {};
    const versions = [this.#version()];
    if (this.#oneIn(3)) versions.push(this.#version());
    return { versions };
  }

  #version(): VersionPlan {
    const random = this.#random;
    const says = this.#oneIn(4) ? random.pick(VERSIONS) : '1.36';
    return this.#oneIn(8) ? { says, refusals: 1 + random.integer(2) } : { says };
  }

  #steps(choice: Choice): Step[] {
    const disturbances = this.#disturbances;
    switch (choice) {
      case 'create':
        return [this.#create()];
      case 'delete':
        return [this.#delete()];
      case 'refer':
        return [this.#refer()];
      case 'finalizers':
        return [this.#finalizers()];
      case 'label':
        return [{ do: 'label', at: this.#ground.taken(), value: this.#random.pick(['a', 'b', 'c']) }];
      case 'wait':
        return [disturbances.wait()];
      case 'define': {
        const defined = this.#ground.kinds.filter(isDefined);
        return defined.length > 0 ? this.#define(this.#random.pick(defined)) : [this.#create()];
      }
      case 'fault':
        // In time for what the collector does about the next step.
        return [disturbances.fault(), this.#oneIn(2) ? this.#delete() : this.#refer()];
      case 'stream':
        return [disturbances.stream()];
      case 'process':
        return disturbances.process();
      case 'motif':
        return this.#motif();
    }
  }

  /** Drawn from another source, so that the plans of other seeds stay as they were. */
  #lie(): LieName | undefined {
    const random = seededRandom(this.#seed ^ 0x5bd1e995);
    const oneOf = random.pick(LIES);
    if (this.#regime === undefined) return random.integer(LIES_ONE_IN) === 0 ? oneOf : undefined;
    if (this.#regime === 'restore' || this.#regime === 'oldServer') return undefined;
    return this.#regime === 'lies' ? oneOf : this.#regime;
  }

  #liedTo(lie: LieName): Step[] {
    return lieSteps(lie, {
      random: this.#random,
      kinds: this.#ground.kinds,
      more: () => this.#steps(pickChoice(this.#random, this.#style)),
    });
  }

  #restored(): Step[] {
    return restoreSteps({
      random: this.#random,
      ground: this.#ground,
      style: this.#style,
      disturbances: this.#disturbances,
      stays:
        this.#regime === undefined
          ? seededRandom(this.#seed ^ 0x2545f491).integer(4) === 0
          : this.#regime === 'oldServer',
      more: () => this.#steps(pickChoice(this.#random, this.#style)),
    });
  }

  #motif(): Step[] {
    const { between } = this.#style;
    const beats = pickMotif({ random: this.#random, ground: this.#ground, style: this.#style });
    if (between > 0 && this.#oneIn(2)) return this.#disturbances.plot(beats);
    return beats.flatMap((beat) => {
      const isDisturbed = this.#random.float() < between;
      return isDisturbed ? [...this.#disturbances.between(), beat] : [beat];
    });
  }

  #create(): Step {
    const at = this.#ground.free();
    const owners = this.#ground.owners(at);
    const finalizers = this.#newFinalizers();
    this.#ground.created(at);
    return {
      do: 'create',
      at,
      ...(owners.length === 0 ? {} : { owners }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    };
  }

  #newFinalizers(): FinalizerName[] {
    const choice = this.#random.integer(24);
    if (choice < 4) return ['hold'];
    if (choice === 4) return ['foregroundDeletion'];
    if (choice === 5) return ['orphan'];
    if (choice === 6) return this.#oneIn(2) ? ['hold', 'foregroundDeletion'] : ['orphan', 'hold'];
    return [];
  }

  #delete(): Step {
    const policy = this.#random.pick(this.#style.policies);
    const at = this.#ground.taken();
    if (this.#oneIn(20)) {
      const { kind, namespace } = placeOf(at);
      this.#ground.collectionDeleted({ kind, namespace });
      return { do: 'deleteAll', kind, namespace, policy };
    }
    this.#ground.deleted(at);
    return { do: 'delete', at, policy };
  }

  #refer(): Step {
    const at = this.#ground.taken();
    const owners = this.#ground.owners(at);
    // Now and then to itself.
    if (this.#oneIn(8)) owners.push({ at, block: true });
    return { do: 'refer', at, owners };
  }

  #finalizers(): Step {
    const at = this.#ground.taken();
    const choice = this.#random.integer(10);
    if (choice === 0) return { do: 'strip', at };
    return { do: choice < 4 ? 'hold' : 'release', at };
  }

  #define(kind: string): Step[] {
    if (this.#defined.delete(kind)) return [{ do: 'undefine', kind }];
    this.#defined.add(kind);
    return [{ do: 'define', kind }, ...(this.#oneIn(4) ? [] : [{ do: 'wait', ms: 3000 } as const])];
  }
}
