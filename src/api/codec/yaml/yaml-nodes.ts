import type { Document, Node, ParsedNode, Scalar } from 'yaml';
import { isAlias, isMap, isNode, isPair, isScalar, isSeq } from 'yaml';

import { quoted as quotedText } from '../../meta/quoted.ts';
import { tooManyMembers } from '../json/body-values.ts';
import { setKey } from '../json/json-value.ts';
import { MAX_JSON_DEPTH } from '../json/json.ts';
import type { TextLines } from './yaml-lines.ts';
import type { LongTexts } from './yaml-long-texts.ts';
import type { YamlSource } from './yaml-tokens.ts';

/**
 * Maximum number of values after aliases are expanded. A few lines of nested aliases can expand to billions of values ("billion laughs");
 * Go's parser stops at a comparable size.
 */
const MAX_YAML_VALUES = 100_000;
/** Maximum number of reported repeated keys, because aliases can multiply one repeated key many times. */
const MAX_REPEATED_KEYS = 1000;

interface Conversion {
  /** The latest node of each anchor so far. The library would search the whole document for every alias. */
  readonly anchors: Map<string, Node>;
  readonly lines: TextLines;
  readonly longTexts: LongTexts;
  readonly maxMembers: number;
  readonly repeated: string[];
  /** Values made so far. */
  values: number;
}

export interface ConvertedNode {
  readonly value: unknown;
  /** `line 4: key "a" already set in map` for each key that a mapping has had before, as Go's strict reader reports it. */
  readonly repeated: string[];
}

/**
 * Converts a parsed document to JSON.
 * @throws StatusError 413 for an object with more members, any other Error with the words of the problem
 */
export function convertYamlNode(
  document: Document.Parsed<ParsedNode>,
  { lines, longTexts }: Pick<YamlSource, 'lines' | 'longTexts'>,
  maxMembers = Infinity,
): ConvertedNode {
  const conversion: Conversion = { anchors: new Map(), lines, longTexts, maxMembers, repeated: [], values: 0 };
  const value = convertNode(document.contents, 0, conversion);
  return { value, repeated: conversion.repeated };
}

/** The node that an alias refers to; any other node itself. */
function nodeAt(node: unknown, depth: number, conversion: Conversion): unknown {
  if (++conversion.values > MAX_YAML_VALUES) throw new Error('document contains excessive aliasing');
  if (depth > MAX_JSON_DEPTH) throw new Error('exceeded max depth');
  if (isAlias(node)) {
    const target = conversion.anchors.get(node.source);
    if (target === undefined) throw new Error(`unknown anchor '${node.source}' referenced`);
    return target;
  }
  if (isNode(node) && node.anchor !== undefined) conversion.anchors.set(node.anchor, node);
  return node;
}

function convertNode(given: unknown, depth: number, conversion: Conversion): unknown {
  const node = nodeAt(given, depth, conversion);
  if (isMap(node)) {
    const map: ReadMap = { members: {}, keys: new Set() };
    readInto(map, node.items, { depth, conversion });
    return map.members;
  }
  if (isSeq(node)) return node.items.map((item) => convertNode(item, depth + 1, conversion));
  return isScalar(node) ? convertScalar(node, conversion.longTexts) : null;
}

function convertScalar(node: Scalar, longTexts: LongTexts): unknown {
  const text = longTexts.size === 0 ? undefined : longTexts.get(node.range?.[0] ?? -1);
  // A value that is left out has the place of what follows it.
  if (text !== undefined && (node.type !== 'PLAIN' || node.source !== '')) return text;
  const value = node.value ?? null;
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`json: unsupported value: ${value}`);
  return value;
}

interface ReadMap {
  readonly members: Record<string, unknown>;
  /** Keys with their types, because 1 and "1" are different keys in Go. */
  readonly keys: Set<unknown>;
}

interface Reading {
  readonly depth: number;
  readonly conversion: Conversion;
}

/** Follows Go's reader and the order of the text: a later key wins, whether written or merged. */
function readInto(map: ReadMap, items: readonly unknown[], { depth, conversion }: Reading): void {
  for (const pair of items) {
    if (!isPair(pair)) continue;
    if (isMergeKey(pair.key)) {
      mergeInto(map, pair.value, { depth: depth + 1, conversion });
      continue;
    }
    const key = convertNode(pair.key, depth, conversion);
    const value = convertNode(pair.value, depth + 1, conversion);
    if (map.keys.has(key) && conversion.repeated.length < MAX_REPEATED_KEYS) {
      conversion.repeated.push(`line ${lineOf(pair, conversion.lines)}: key ${goText(key)} already set in map`);
    }
    map.keys.add(key);
    if (map.keys.size > conversion.maxMembers) throw tooManyMembers();
    setKey(map.members, keyText(key), value);
  }
}

function mergeInto(map: ReadMap, source: unknown, { depth, conversion }: Reading): void {
  const node = nodeAt(source, depth, conversion);
  // The first of several sources wins.
  const sources = isSeq(node) ? node.items.map((item) => nodeAt(item, depth, conversion)).toReversed() : [node];
  for (const one of sources) {
    if (!isMap(one)) throw new Error('map merge requires map or sequence of maps as the value');
    readInto(map, one.items, { depth, conversion });
  }
}

/** The line of the value, or of its anchor or tag. */
function lineOf({ key, value }: { readonly key: unknown; readonly value: unknown }, lines: TextLines): number {
  const marked = isNode(value) && !isAlias(value) && (value.anchor !== undefined || value.tag !== undefined);
  const place = isNode(value) && !marked ? value : key;
  return lines.linePos((isNode(place) ? place.range?.[0] : undefined) ?? 0).line;
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

/** JSON keys are strings, so numbers and booleans are converted. */
function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean') return String(key);
  throw new Error(`unsupported map key: ${JSON.stringify(key)}`);
}

function goText(key: unknown): string {
  return typeof key === 'string' ? quotedText(key) : String(key);
}
