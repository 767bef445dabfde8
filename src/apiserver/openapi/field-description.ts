import type { FieldInfo } from '../../api/kinds/type-table.ts';
import { fieldText } from './descriptions/field-text.ts';

/**
 * The description of a field for `kubectl explain`: our own words, and facts of the type table that the schema does not show otherwise.
 * Undefined if there are none. Example: `Containers of the pod. One entry per name. Strategic merge patch merges by name.`
 */
export function describeField(typeName: string, field: FieldInfo): string | undefined {
  const sentences = [fieldText(typeName, field), identityOf(field), mergeOf(field), defaultOf(field)];
  const known = sentences.filter((sentence) => sentence !== undefined);
  return known.length === 0 ? undefined : known.join(' ');
}

/** The identity of entries, or that the value is atomic, for server-side apply. */
function identityOf(field: FieldInfo): string | undefined {
  if (field.listType === 'set') return 'Each value once.';
  if (field.listType === 'map') return `One entry per ${(field.listMapKeys ?? []).join(' and ')}.`;
  return field.listType === 'atomic' || field.mapType === 'atomic'
    ? 'Server-side apply takes it as a whole.'
    : undefined;
}

function mergeOf(field: FieldInfo): string | undefined {
  if (field.patchMergeKey !== undefined) return `Strategic merge patch merges by ${field.patchMergeKey}.`;
  if (field.patchStrategy === 'merge') return 'Strategic merge patch adds to it.';
  if (field.patchStrategy === 'replace') return 'Strategic merge patch replaces it.';
  return field.patchStrategy === 'retainKeys' ? 'Strategic merge patch keeps only the keys it names.' : undefined;
}

function defaultOf({ default: value }: FieldInfo): string | undefined {
  const telling = value !== undefined && value !== '' && value !== 0 && value !== false;
  return telling ? `Default: ${String(value)}.` : undefined;
}
