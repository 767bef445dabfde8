import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantities,
} from '../quantity.ts';

/** Amounts by the name of the resource (`cpu`, `requests.storage`, `count/configmaps`). */
export type ResourceList = ReadonlyMap<string, Quantity>;

/** Reads an object's field. Malformed quantities are left out, because validation either refused or never saw them. */
export function parseResourceList(value: unknown): ResourceList {
  const list = new Map<string, Quantity>();
  if (typeof value !== 'object' || value === null) return list;
  for (const [name, text] of Object.entries(value)) {
    try {
      list.set(name, parseQuantity(String(text)));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
  }
  return list;
}

/** The list as a field of an object, sorted by name. */
export function resourceListFields(list: ResourceList): Record<string, string> {
  return Object.fromEntries(sorted(list).map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** The list in messages: `pods=1,requests.cpu=500m`. */
export function formatResourceList(list: ResourceList): string {
  return sorted(list)
    .map(([name, quantity]) => `${name}=${formatQuantity(quantity)}`)
    .join(',');
}

function sorted(list: ResourceList): [string, Quantity][] {
  return [...list].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

export function amount(value: number): Quantity {
  return { unscaled: BigInt(value), scale: 0, format: 'DecimalSI' };
}

export function addLists(a: ResourceList, b: ResourceList): ResourceList {
  const sum = new Map(a);
  for (const [name, quantity] of b) {
    const there = sum.get(name);
    sum.set(name, there === undefined ? quantity : addQuantities(there, quantity));
  }
  return sum;
}

/** The maximum of each resource. */
export function maxLists(a: ResourceList, b: ResourceList): ResourceList {
  const greater = new Map(a);
  for (const [name, quantity] of b) {
    const there = greater.get(name);
    if (there === undefined || compareQuantities(quantity, there) > 0) greater.set(name, quantity);
  }
  return greater;
}

/** The amounts by which `next` exceeds `previous`, never negative. */
export function increaseOf(next: ResourceList, previous: ResourceList): ResourceList {
  const more = new Map<string, Quantity>();
  for (const [name, quantity] of next) {
    const before = previous.get(name);
    const difference = before === undefined ? quantity : subtractQuantities(quantity, before);
    if (difference.unscaled > 0n) more.set(name, difference);
  }
  return more;
}

export function onlyNames(list: ResourceList, names: ReadonlySet<string>): ResourceList {
  return new Map([...list].filter(([name]) => names.has(name)));
}

/** Names whose amount exceeds the limit. Resources without a limit never do. */
export function exceeded(list: ResourceList, limits: ResourceList): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, quantity] of list) {
    const limit = limits.get(name);
    if (limit !== undefined && compareQuantities(quantity, limit) > 0) names.add(name);
  }
  return names;
}

export function sameLists(a: ResourceList, b: ResourceList): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, quantity]) => {
    const other = b.get(name);
    return other !== undefined && compareQuantities(quantity, other) === 0;
  });
}
