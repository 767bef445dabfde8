import type { Document, Node, ParsedNode, Scalar } from 'yaml';
import { isAlias, isMap, isNode, isPair, isScalar, isSeq } from 'yaml';

import { getKey, isJsonObject, setKey } from './json-value.ts';
import { MAX_JSON_DEPTH } from './json.ts';

/**
 * Values that a document may have after its aliases are expanded. A few lines of aliases of aliases can stand for billions
 * (the "billion laughs"); Go's parser stops at a comparable size.
 */
const MAX_YAML_VALUES = 400_000;

interface Conversion {
  /** The latest node of each anchor so far. (The library searches the whole document for every alias.) */
  readonly anchors: Map<string, Node>;
  readonly duplicates: Set<string>;
  /** Values made so far. */
  values: number;
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

/** Converts a parsed document to JSON. @throws Error with the words of the problem */
export function convertYamlNode(document: Document.Parsed<ParsedNode>): { value: unknown; duplicates: string[] } {
  const conversion: Conversion = { anchors: new Map(), duplicates: new Set(), values: 0 };
  const value = convertNode(document.contents, { path: '', depth: 0 }, conversion);
  return { value, duplicates: [...conversion.duplicates] };
}

function convertNode(node: unknown, place: Place, conversion: Conversion): unknown {
  if (++conversion.values > MAX_YAML_VALUES) throw new Error('document contains excessive aliasing');
  if (place.depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
  if (isAlias(node)) {
    const target = conversion.anchors.get(node.source);
    if (target === undefined) throw new Error(`unknown anchor '${node.source}' referenced`);
    return convertNode(target, { path: place.path, depth: place.depth + 1 }, conversion);
  }
  if (isNode(node) && node.anchor !== undefined) conversion.anchors.set(node.anchor, node);
  if (isMap(node)) return convertMap(node.items, place, conversion);
  if (isSeq(node)) {
    return node.items.map((item, index) =>
      convertNode(item, { path: `${place.path}[${index}]`, depth: place.depth + 1 }, conversion),
    );
  }
  return isScalar(node) ? convertScalar(node) : null;
}

function convertScalar(node: Scalar): unknown {
  const value = node.value ?? null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) throw new Error(`json: unsupported value: ${value}`);
  const { source } = node;
  const lost =
    Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined && /^[-+]?\d+$/.test(source);
  if (lost && String(value) !== source) throw new Error(`number ${source} cannot be held exactly`);
  return value;
}

function convertMap(items: readonly unknown[], place: Place, conversion: Conversion): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  const merged: Record<string, unknown>[] = [];
  for (const pair of items) {
    if (!isPair(pair)) continue;
    const inner = (key: string): Place => ({
      path: place.path === '' ? key : `${place.path}.${key}`,
      depth: place.depth + 1,
    });
    if (isMergeKey(pair.key)) {
      merged.push(...mergeSources(convertNode(pair.value, inner('<<'), conversion)));
      continue;
    }
    const key = keyText(convertNode(pair.key, place, conversion));
    if (Object.hasOwn(own, key)) conversion.duplicates.add(inner(key).path);
    setKey(own, key, convertNode(pair.value, inner(key), conversion));
  }
  // Keys written in the mapping win over merged ones, and earlier sources over later ones.
  for (const source of merged) {
    for (const key of Object.keys(source)) if (!Object.hasOwn(own, key)) setKey(own, key, getKey(source, key));
  }
  return own;
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

function mergeSources(value: unknown): Record<string, unknown>[] {
  const sources = Array.isArray(value) ? value : [value];
  if (!sources.every(isJsonObject)) throw new Error('map merge requires map or sequence of maps as the value');
  return sources;
}

/** JSON keys are texts: numbers and booleans are spelt out. */
function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'boolean') return String(key);
  throw new Error(`unsupported map key: ${JSON.stringify(key)}`);
}
