import type { FieldInfo } from '../../api/kinds/type-table.ts';
import { fieldText } from './descriptions/field-text.ts';

/**
 * What `kubectl explain` says of a field: our own words, and what the type table knows and the schema does not show in another way.
 * Undefined when there is nothing to say: that it is text or required is seen beside it.
 * Example: `Containers of the pod. One entry per name. Strategic merge patch merges by name.`
 */
export function describeField(typeName: string, field: FieldInfo): string | undefined {
  const sentences = [fieldText(typeName, field), identityOf(field), mergeOf(field), defaultOf(field)];
  const known = sentences.filter((sentence) => sentence !== undefined);
  return known.length === 0 ? undefined : known.join(' ');
}

/** How entries are told apart, or that the value is taken whole; server-side apply goes by it. */
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
