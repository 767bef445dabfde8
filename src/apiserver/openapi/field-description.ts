import type { FieldInfo } from '../../api/kinds/type-table.ts';
import { isScalarType, isSpecialType } from '../../api/kinds/type-table.ts';

/**
 * What `kubectl explain` says of a field that nobody described: only what the type table knows, as short sentences.
 * Example: `Required. List of Container, one entry per name. Strategic merge patch merges by name.`
 */
export function describeField(field: FieldInfo): string {
  const sentences = [`${shapeOf(field)}${identityOf(field)}.`];
  if (field.required) sentences.unshift('Required.');
  if (field.enum !== undefined && field.enum.length > 0) sentences.push(`One of ${field.enum.join(', ')}.`);
  const merge = mergeOf(field);
  if (merge !== undefined) sentences.push(merge);
  if (field.default !== undefined && field.default !== '' && field.default !== 0 && field.default !== false) {
    sentences.push(`Default: ${String(field.default)}.`);
  }
  return sentences.join(' ');
}

function shapeOf(field: FieldInfo): string {
  const element = elementOf(field.type);
  if (field.map) return field.list ? `Map of lists of ${element.plural}` : `Map of ${element.plural}`;
  return field.list ? `List of ${element.plural}` : element.single;
}

interface Noun {
  readonly single: string;
  readonly plural: string;
}

const NOUNS: Readonly<Record<string, Noun>> = {
  string: { single: 'Text', plural: 'texts' },
  bool: { single: 'True or false', plural: 'booleans' },
  int32: { single: 'Whole number', plural: 'whole numbers' },
  int64: { single: 'Whole number', plural: 'whole numbers' },
  float64: { single: 'Number', plural: 'numbers' },
  bytes: { single: 'Bytes, base64 encoded', plural: 'bytes, base64 encoded' },
  Time: { single: 'Time', plural: 'times' },
  MicroTime: { single: 'Time with microseconds', plural: 'times with microseconds' },
  Quantity: { single: 'Amount such as 500m or 2Gi', plural: 'amounts such as 500m or 2Gi' },
  IntOrString: { single: 'Whole number, or text such as a percentage or a name', plural: 'whole numbers or texts' },
  RawExtension: { single: 'Any object', plural: 'objects of any kind' },
  FieldsV1: { single: 'Set of fields', plural: 'sets of fields' },
  JSON: { single: 'Any JSON value', plural: 'JSON values' },
};

function elementOf(type: string): Noun {
  const noun = NOUNS[type];
  if (noun !== undefined) return noun;
  const name = isScalarType(type) || isSpecialType(type) ? type : type.slice(type.lastIndexOf('.') + 1);
  return { single: `Object of type ${name}`, plural: name };
}

/** How entries are told apart, or that the value is taken whole; server-side apply goes by it. */
function identityOf(field: FieldInfo): string {
  if (field.listType === 'set') return ', each value once';
  if (field.listType === 'map') return `, one entry per ${(field.listMapKeys ?? []).join(' and ')}`;
  return field.listType === 'atomic' || field.mapType === 'atomic' ? ', set as a whole' : '';
}

function mergeOf(field: FieldInfo): string | undefined {
  if (field.patchMergeKey !== undefined) return `Strategic merge patch merges by ${field.patchMergeKey}.`;
  if (field.patchStrategy === 'merge') return 'Strategic merge patch adds to it.';
  if (field.patchStrategy === 'replace') return 'Strategic merge patch replaces it.';
  return field.patchStrategy === 'retainKeys' ? 'Strategic merge patch keeps only the keys it names.' : undefined;
}
