import { labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';
import type { Fields } from './object-fields.ts';
import { at, textAt } from './object-fields.ts';

/** Texts that several kinds share, worded as kubectl users know them (API-438). */
export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';

/** `a=1,b=2` sorted by key; `<none>` for an empty map. */
export function labelsText(labels: Fields): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`);
  return pairs.length === 0 ? NONE : pairs.join(',');
}

/** A label selector in the query notation; `<none>` for one that is absent or selects everything. */
export function selectorText(selector: unknown): string {
  return selectorNotation(selector, '<error>') || NONE;
}

/** The same, empty text for an empty selector, and `invalid` for one that cannot be read. */
export function selectorNotation(selector: unknown, invalid: string): string {
  if (typeof selector !== 'object' || selector === null) return '';
  try {
    return labelSelectorFromObject(selector).toString();
  } catch {
    return invalid;
  }
}

/** Names and images of containers, each list joined by commas. */
export function containerNames(containers: readonly unknown[]): string {
  return containers.map((container) => textAt(container, 'name')).join(',');
}

export function containerImages(containers: readonly unknown[]): string {
  return containers.map((container) => textAt(container, 'image')).join(',');
}

/** The first `shown` items, and how many of `total` are left out; `empty` when there are none. */
export function clipped(
  items: readonly string[],
  { shown, total = items.length, empty }: { shown: number; total?: number; empty: string },
): string {
  if (items.length === 0) return empty;
  const head = items.slice(0, shown).join(',');
  return items.length > shown ? `${head} + ${total - shown} more...` : head;
}

/** A quantity as stored; Go prints an absent one as `0`. */
export function quantityText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '0';
}

/** A text field that may be absent, and what is printed then. */
export function textOr(absent: string, value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : absent;
}

/** The first text that is not empty. */
export function firstText(...texts: readonly string[]): string {
  return texts.find((text) => text !== '') ?? '';
}
