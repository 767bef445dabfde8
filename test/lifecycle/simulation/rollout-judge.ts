import {
  isActive,
  type Stored,
  type StoredWorkloads,
  show,
  specReplicas,
  controllerOf,
  uidOf,
} from './stored-workloads.ts';

type IntOrPercent = number | string;

/** The numbers of pods that a Deployment allows, by the documentation of its fields: percentages of surge round up, of unavailability down. */
export function allowance({ spec }: Stored): { readonly most: number; readonly least: number } {
  const replicas = spec?.replicas ?? 1;
  const { type, rollingUpdate = {} } = ((spec as { strategy?: object } | undefined)?.strategy ?? {}) as {
    type?: string;
    rollingUpdate?: { maxSurge?: IntOrPercent; maxUnavailable?: IntOrPercent };
  };
  if (type === 'Recreate') return { most: replicas, least: 0 };
  const surge = share(rollingUpdate.maxSurge ?? '25%', replicas, Math.ceil);
  const unavailable = share(rollingUpdate.maxUnavailable ?? '25%', replicas, Math.floor);
  const least = surge + unavailable === 0 ? 1 : unavailable;
  return { most: replicas + surge, least: Math.max(0, replicas - least) };
}

function share(value: IntOrPercent, of: number, round: (value: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseInt(value, 10) * of) / 100);
}

export interface RolloutJudgeOptions {
  readonly objects: StoredWorkloads;
  readonly wrong: string[];
  readonly now: () => number;
  /** For so long controllers may act on what was so before, ms. */
  readonly staleMs: number;
  /** No request of a controller has an outcome that it does not learn. */
  readonly everyAnswerArrives: boolean;
}

interface Bound {
  readonly at: number;
  readonly most: number;
}

const FAILS = 'kubegc.io/sim-fail-after';
/** After a disturbance nobody judges availability for so long, ms. */
const DISTURBED_MS = 60_000;

/**
 * Watches every state for more replicas than a Deployment allows, fewer available pods than it allows, and more pods than a ReplicaSet asks
 * for. Availability is judged from a complete rollout until a user does something else than to change the template.
 */
export class RolloutJudge {
  readonly #options: RolloutJudgeOptions;
  /** By uid of a Deployment or ReplicaSet: how many were allowed, latest last. */
  readonly #bounds = new Map<string, Bound[]>();
  /** Uids of the Deployments whose availability is judged. */
  readonly #steady = new Set<string>();
  #disturbedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RolloutJudgeOptions) {
    this.#options = options;
  }

  /** A user did something that may cost pods, now or when the controllers learn of it. */
  disturb(): void {
    this.#steady.clear();
    this.#disturbedAt = this.#options.now();
  }

  /** The objects are as after the change. */
  changed(before: Stored | undefined, after: Stored | undefined): void {
    const kind = (after ?? before)?.kind;
    if (kind === 'Deployment' && after !== undefined) this.#bound(after, allowance(after).most);
    if (kind === 'ReplicaSet' && after !== undefined) {
      this.#bound(after, specReplicas(after));
      this.#judgeSurge(before, after);
    }
    if (kind === 'Pod' && before === undefined && after !== undefined) this.#judgeSurplus(after);
    if (kind === 'Pod' || kind === 'ReplicaSet' || kind === 'Deployment') {
      for (const deployment of this.#options.objects.of('Deployment')) this.#judgeAvailability(deployment);
    }
  }

  #bound(object: Stored, most: number): void {
    const bounds = this.#bounds.get(uidOf(object)) ?? [];
    this.#bounds.set(uidOf(object), bounds);
    if (bounds.at(-1)?.most !== most) bounds.push({ at: this.#options.now(), most });
  }

  /** The highest bound that a controller may act on. */
  #most(object: Stored): number {
    const bounds = this.#bounds.get(uidOf(object)) ?? [];
    const since = this.#options.now() - this.#options.staleMs;
    // A bound counts until the next one is old.
    return Math.max(
      0,
      ...bounds.filter((_, index) => (bounds[index + 1]?.at ?? Infinity) >= since).map(({ most }) => most),
    );
  }

  #judgeSurge(before: Stored | undefined, after: Stored): void {
    const owner = controllerOf(after);
    const deployment = owner === undefined ? undefined : this.#options.objects.withUid(owner.uid);
    if (deployment?.kind !== 'Deployment') return;
    const isMore = specReplicas(after) > (before === undefined ? 0 : specReplicas(before));
    if (!isMore || (before !== undefined && controllerOf(before)?.uid !== owner?.uid)) return;
    const sets = this.#options.objects.controlledBy(deployment, 'ReplicaSet');
    const sum = sets.reduce((total, set) => total + specReplicas(set), 0);
    const most = this.#most(deployment);
    if (sum > most) this.#options.wrong.push(`LIFE-307 ${show(deployment)} asks for ${sum} pods and allows ${most}`);
  }

  #judgeSurplus(pod: Stored): void {
    const owner = controllerOf(pod);
    const set = owner === undefined ? undefined : this.#options.objects.withUid(owner.uid);
    if (set?.kind !== 'ReplicaSet' || !this.#options.everyAnswerArrives) return;
    const active = this.#options.objects.controlledBy(set, 'Pod').filter(isActive).length;
    const most = this.#most(set);
    if (active > most) this.#options.wrong.push(`LIFE-261 ${show(set)} makes ${active} pods and asks for ${most}`);
  }

  #judgeAvailability(deployment: Stored): void {
    const uid = uidOf(deployment);
    const { objects, wrong, now } = this.#options;
    const replicas = specReplicas(deployment);
    const sets = objects.controlledBy(deployment, 'ReplicaSet');
    const pods = sets.flatMap((set) => objects.controlledBy(set, 'Pod')).filter(isActive);
    const fails = pods.some(({ metadata }) => metadata?.annotations?.[FAILS] !== undefined);
    const available = pods.filter(isReady).length;
    const { least } = allowance(deployment);
    if (fails) this.#steady.delete(uid);
    else if (now() - this.#disturbedAt > DISTURBED_MS && available === pods.length && available === replicas) {
      this.#steady.add(uid);
    }
    if (!this.#steady.has(uid) || available >= least) return;
    this.#steady.delete(uid);
    wrong.push(`LIFE-307 ${show(deployment)} has ${available} available pods and needs ${least}`);
  }
}

function isReady({ status }: Stored): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
