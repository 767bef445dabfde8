import { type FieldInfo, typeInfo } from '../../../api/kinds/type-table.ts';
import { ACCESS } from './access.ts';
import { CLUSTER } from './cluster.ts';
import { COMMON_FIELDS, CONDITION_FIELDS, METADATA_FIELDS, TYPE_META_FIELDS } from './any-type.ts';
import { CONTAINERS } from './containers.ts';
import { EXTENSIONS } from './extensions.ts';
import type { FieldTexts } from './field-texts.ts';
import { EVENTS, META } from './meta.ts';
import { NETWORK } from './network.ts';
import { PODS } from './pods.ts';
import { SCALING } from './scaling.ts';
import { VOLUMES } from './volumes.ts';
import { WORKLOADS } from './workloads.ts';

export const TEXT_GROUPS: readonly FieldTexts[] = [
  META,
  EVENTS,
  PODS,
  CONTAINERS,
  VOLUMES,
  WORKLOADS,
  SCALING,
  NETWORK,
  CLUSTER,
  ACCESS,
  EXTENSIONS,
];

export const FIELD_TEXTS: FieldTexts = Object.fromEntries(TEXT_GROUPS.flatMap((group) => Object.entries(group)));

/** `core.PodSpec` for `api/core/v1.PodSpec`, because all versions share descriptions. */
export function textKeyOf(typeName: string): string {
  const [path = '', name = ''] = splitLast(typeName, '.');
  const [group = ''] = splitLast(path, '/');
  return `${group.slice(group.lastIndexOf('/') + 1)}.${name}`;
}

/** Our description of a field of a type in the type table, if there is one. */
export function fieldText(typeName: string, { name, type }: FieldInfo): string | undefined {
  const own = FIELD_TEXTS[textKeyOf(typeName)]?.[name];
  if (own !== undefined) return own;
  if (name === 'metadata') return wordsOf(METADATA_FIELDS, type.slice(type.lastIndexOf('.') + 1));
  if (isKind(typeName) && Object.hasOwn(TYPE_META_FIELDS, name)) return wordsOf(TYPE_META_FIELDS, name);
  const ofCondition = typeName.endsWith('Condition') ? wordsOf(CONDITION_FIELDS, name) : undefined;
  return ofCondition ?? wordsOf(COMMON_FIELDS, name);
}

/** Kinds begin with `kind` and `apiVersion`; references have only one of these fields, or the other order. */
function isKind(typeName: string): boolean {
  const [first, second] = typeInfo(typeName)?.fields ?? [];
  return first?.name === 'kind' && second?.name === 'apiVersion';
}

function wordsOf(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

function splitLast(text: string, separator: string): [string, string] {
  const at = text.lastIndexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}
