import { labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';
import type { Fields } from './object-fields.ts';
import { at, textAt } from './object-fields.ts';

/** Cell texts that several kinds share, in kubectl's words (API-438). */
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

/** A label selector in query notation; `<none>` if it is absent or selects everything. */
export function selectorText(selector: unknown): string {
  return selectorNotation(selector, '<error>') || NONE;
}

/** The same, but empty for an empty selector and `invalid` for a malformed one. */
export function selectorNotation(selector: unknown, invalid: string): string {
  if (typeof selector !== 'object' || selector === null) return '';
  try {
    return labelSelectorFromObject(selector).toString();
  } catch {
    return invalid;
  }
}

/** Names and images of containers, each joined by commas. */
export function containerNames(containers: readonly unknown[]): string {
  return containers.map((container) => textAt(container, 'name')).join(',');
}

export function containerImages(containers: readonly unknown[]): string {
  return containers.map((container) => textAt(container, 'image')).join(',');
}

/** The first `shown` items and the number of the remaining ones; `empty` if there are no items. */
export function clipped(
  items: readonly string[],
  { shown, total = items.length, empty }: { shown: number; total?: number; empty: string },
): string {
  if (items.length === 0) return empty;
  const head = items.slice(0, shown).join(',');
  return items.length > shown ? `${head} + ${total - shown} more...` : head;
}

/** A quantity as stored; an absent one prints as `0`, as in Go. */
export function quantityText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '0';
}

/** A text field, or the given text if it is absent. */
export function textOr(absent: string, value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : absent;
}

/** The first text that is not empty. */
export function firstText(...texts: readonly string[]): string {
  return texts.find((text) => text !== '') ?? '';
}
