import { quoted } from '../meta/quoted.ts';
import type { StatusCause, StatusError } from '../status-error.ts';
import { MOST_CAUSES_TOLD, MOST_TEXT_TOLD, newApplyConflict } from '../status-error.ts';
import { type FieldSet, memberCount, memberPaths } from './fieldset.ts';
import { type Manager, managerIdentifier } from './managed-fields.ts';

/** Fields that an apply wants to change, and the manager that owns them. */
export interface ManagerConflict {
  readonly manager: Manager;
  /** Not empty. */
  readonly fields: FieldSet;
}

/**
 * Returns a 409 with one cause per field (API-213), given at least one conflict. If there are more than ten thousand fields, or a mebibyte
 * of causes, the error names the first ones and counts the rest.
 */
export function conflictError(conflicts: readonly ManagerConflict[]): StatusError {
  const byManager = conflicts
    .map(({ manager, fields }) => ({ who: describe(manager), id: managerIdentifier(manager), fields }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const count = byManager.reduce((sum, { fields }) => sum + memberCount(fields), 0);
  const causes: StatusCause[] = [];
  const lines: string[] = [];
  for (const { path, who, first } of fieldsTold(byManager)) {
    causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field: path });
    if (first) lines.push(`conflicts with ${who}:`);
    lines.push(`- ${path}`);
  }
  const [only] = causes;
  if (only !== undefined && count === 1) {
    return newApplyConflict(causes, `Apply failed with 1 conflict: ${only.message}: ${only.field}`);
  }
  if (causes.length < count) lines.push(`and ${count - causes.length} more`);
  return newApplyConflict(causes, `Apply failed with ${count} conflicts: ${lines.join('\n')}`);
}

interface Conflicting {
  readonly who: string;
  readonly fields: FieldSet;
}

/** Yields as many fields as fit, at least the first one. `first` is the first field of its manager. */
function* fieldsTold(
  managers: readonly Conflicting[],
): Generator<{ readonly path: string; readonly who: string; readonly first: boolean }> {
  let count = 0;
  let text = 0;
  for (const { who, fields } of managers) {
    let first = true;
    for (const path of memberPaths(fields)) {
      text += path.length + who.length;
      if (count > 0 && (count === MOST_CAUSES_TOLD || text > MOST_TEXT_TOLD)) return;
      yield { path, who, first };
      first = false;
      count++;
    }
  }
}

function describe({ name, subresource, operation, apiVersion }: Manager): string {
  const who = `${quoted(name)}${subresource === '' ? '' : ` with subresource ${quoted(subresource)}`}`;
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}
