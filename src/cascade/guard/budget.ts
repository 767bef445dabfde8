import { createHash } from 'node:crypto';
import type { CascadePlan, Outcome } from '../documents/cascade-plan.ts';
import { resourceName } from '../snapshot/resource-catalogue.ts';

/**
 * The maximum that one user may delete. The first budget that names the user, or a group of the user, applies; a budget without names
 * applies to everybody.
 */
export interface GuardBudget {
  /** Names of users. */
  readonly users?: readonly string[];
  /** Names of groups. */
  readonly groups?: readonly string[];
  /** Objects of one request. */
  readonly perDelete?: number;
  /** Objects of one request by resource: `pods`, `deployments.apps`. */
  readonly perDeleteOf?: Readonly<Record<string, number>>;
  /** Objects of all requests within an hour, as far as this process has allowed them. */
  readonly perHour?: number;
  /** Objects of all requests within an hour, by resource. */
  readonly perHourOf?: Readonly<Record<string, number>>;
}

const HOUR_MS = 3_600_000;
/** Maximum number of users whose deletions are remembered; beyond it, the user who deleted first is forgotten. */
const MOST_USERS = 10_000;
/** Maximum age of an approved plan; also how far its time may be in the future, because clocks differ. Seconds. */
const APPROVAL_SECONDS = 600;
const CLOCK_SKEW_SECONDS = 60;
const DIGITS = 12;

/** Counts of the deleted objects, by resource. */
export interface Extent {
  readonly total: number;
  readonly byResource: ReadonlyMap<string, number>;
}

export const NOTHING: Extent = { total: 0, byResource: new Map() };

/** Counts the deletions of each user in the last hour, minute by minute. */
export class DeletionLedger {
  readonly #users = new Map<string, Map<number, Extent>>();

  /** @param now milliseconds since the epoch */
  note(user: string, extent: Extent, now: number): void {
    const minutes = this.#users.get(user) ?? new Map<number, Extent>();
    this.#users.delete(user);
    this.#users.set(user, minutes);
    const minute = Math.floor(now / 60_000);
    minutes.set(minute, sumOf([minutes.get(minute) ?? NOTHING, extent]));
    for (const each of minutes.keys()) if (each * 60_000 <= now - HOUR_MS - 60_000) minutes.delete(each);
    const [oldest] = this.#users.keys();
    if (this.#users.size > MOST_USERS && oldest !== undefined) this.#users.delete(oldest);
  }

  spent(user: string, now: number): Extent {
    const minutes = [...(this.#users.get(user) ?? [])].filter(([minute]) => minute * 60_000 > now - HOUR_MS);
    return sumOf(minutes.map(([, extent]) => extent));
  }
}

function sumOf(extents: readonly Extent[]): Extent {
  let total = 0;
  const byResource = new Map<string, number>();
  for (const extent of extents) {
    total += extent.total;
    for (const [name, count] of extent.byResource) byResource.set(name, (byResource.get(name) ?? 0) + count);
  }
  return { total, byResource };
}

export function budgetOf(
  budgets: readonly GuardBudget[],
  { username, groups }: { readonly username: string; readonly groups: readonly string[] },
): GuardBudget | undefined {
  return budgets.find(
    (budget) =>
      (budget.users === undefined && budget.groups === undefined) ||
      budget.users?.includes(username) === true ||
      budget.groups?.some((group) => groups.includes(group)) === true,
  );
}

/** One sentence for each limit that is exceeded. */
export function exceededLimits(budget: GuardBudget, extent: Extent, spent: Extent): string[] {
  const found: string[] = [];
  const { perDelete, perDeleteOf = {}, perHour, perHourOf = {} } = budget;
  if (perDelete !== undefined && extent.total > perDelete) {
    found.push(`${extent.total} objects would go, and the budget of one deletion is ${perDelete}`);
  }
  for (const [resource, most] of Object.entries(perDeleteOf)) {
    const count = extent.byResource.get(resource) ?? 0;
    if (count > most) found.push(`${count} ${resource} would go, and the budget of one deletion is ${most}`);
  }
  if (perHour !== undefined && spent.total + extent.total > perHour) {
    found.push(
      `${spent.total} objects went within an hour, ${extent.total} more would go, and the budget is ${perHour}`,
    );
  }
  for (const [resource, most] of Object.entries(perHourOf)) {
    const count = extent.byResource.get(resource) ?? 0;
    const before = spent.byResource.get(resource) ?? 0;
    if (count > 0 && before + count > most) {
      found.push(`${before} ${resource} went within an hour, ${count} more would go, and the budget is ${most}`);
    }
  }
  return found;
}

const GOES: ReadonlySet<Outcome> = new Set(['deleted', 'waits', 'stuck', 'unknown']);

export function extentOf({ objects }: Pick<CascadePlan, 'objects'>): Extent {
  const byResource = new Map<string, number>();
  let total = 0;
  for (const { ref, outcome } of objects) {
    if (!GOES.has(outcome)) continue;
    total++;
    const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0]! : '';
    const name = resourceName({ group, resource: ref.resource });
    byResource.set(name, (byResource.get(name) ?? 0) + 1);
  }
  return { total, byResource };
}

/**
 * Digest of a plan that stays the same when an annotation is put on its roots: it ignores their resourceVersion, and contains everything
 * else that is deleted with them.
 */
export function approvalDigest({ roots, objects }: Pick<CascadePlan, 'roots' | 'objects'>): string {
  const isRoot = new Set(roots.map(({ ref }) => ref.uid));
  const lines = objects.map(({ ref, outcome }) => [
    ref.uid,
    isRoot.has(ref.uid) ? '' : (ref.resourceVersion ?? ''),
    outcome,
  ]);
  const policies = roots.map(({ ref, policy }) => [ref.uid, policy]);
  const sorted = [policies.toSorted(byFirst), lines.toSorted(byFirst)];
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, DIGITS);
}

function byFirst([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return a < b ? -1 : 1;
}

/** Whether an annotation approves the plan with this digest: the same digest, at most ten minutes old (CAS-072). */
export function approves(annotation: string | undefined, digest: string, now: number): boolean {
  const [, typed = '', seconds = ''] = /^([0-9a-f]+)\.(\d{1,12})$/.exec(annotation ?? '') ?? [];
  const age = now / 1000 - Number(seconds);
  return typed === digest && seconds !== '' && age <= APPROVAL_SECONDS && age >= -CLOCK_SKEW_SECONDS;
}
