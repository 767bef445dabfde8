import type { KubeObject } from '../../api/meta/object-meta.ts';
import { DecodeError } from './decode-error.ts';

/** The body of a LIST. */
export interface KubeList<T = KubeObject> {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: T[];
}

/**
 * A list inside an answer. kube-apiserver writes an empty one as `null` in some encodings and leaves it out in others: all three mean no
 * element. Throws a {@link DecodeError} that names it for anything else.
 */
export function elementsOf<T>(value: readonly T[] | null | undefined, name: string): readonly T[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new DecodeError(`${name} is not a list`);
  return value as readonly T[];
}

/** The value, unless it is not an object. Then throws a {@link DecodeError} that names it. */
export function objectIn<T extends object>(value: T | null | undefined, name: string): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DecodeError(`${name} is not an object`);
  }
  return value;
}

/** The text, empty for null and absent. Throws a {@link DecodeError} that names it for anything else. */
export function textIn(value: unknown, name: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') throw new DecodeError(`${name} is not a string`);
  return value;
}

/** A list of texts; null and absent are empty. Throws a {@link DecodeError} that names it for anything else. */
export function textsIn(value: readonly string[] | null | undefined, name: string): readonly string[] {
  return elementsOf(value, name).map((each) => textIn(each, `an element of ${name}`));
}

/**
 * Decodes the body of a LIST. `resource` is the requested resource, for errors. A body without items whose kind does not end in `List` is a
 * {@link DecodeError}, so that the page of a proxy never passes for an empty list.
 */
export function decodeList<T>(body: unknown, resource: string): KubeList<T> {
  const list = objectIn(body as Partial<KubeList<T>> | null, `the list of ${resource}`);
  const { kind } = list;
  if (!Array.isArray(list.items) && !(typeof kind === 'string' && kind.endsWith('List'))) {
    const found = typeof kind === 'string' ? `a ${kind}` : 'an object without a kind';
    throw new DecodeError(`the answer to a list of ${resource} is ${found}, not a list`);
  }
  const items = elementsOf<T>(list.items, `items of the list of ${resource}`);
  for (const item of items) objectIn(item as object | null, `an item of the list of ${resource}`);
  const metadata = list.metadata ?? {};
  return { ...list, metadata: objectIn(metadata, `metadata of the list of ${resource}`), items: [...items] };
}
