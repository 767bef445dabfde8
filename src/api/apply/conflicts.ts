import { quoted } from '../meta/quoted.ts';
import type { StatusError } from '../status-error.ts';
import { newApplyConflict } from '../status-error.ts';
import { type FieldSet, memberPaths } from './fieldset.ts';
import { type Manager, managerIdentifier } from './managed-fields.ts';

/** Fields that an apply wants to change, and the manager that has them. */
export interface ManagerConflict {
  readonly manager: Manager;
  /** Not empty. */
  readonly fields: FieldSet;
}

/** 409 with one cause per field (API-213). At least one conflict. */
export function conflictError(conflicts: readonly ManagerConflict[]): StatusError {
  const byManager = conflicts
    .map(({ manager, fields }) => ({ manager, id: managerIdentifier(manager), paths: memberPaths(fields) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const causes = byManager.flatMap(({ manager, paths }) =>
    paths.map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${describe(manager)}`,
      field,
    })),
  );
  const [only] = causes;
  if (only !== undefined && causes.length === 1) {
    return newApplyConflict(causes, `Apply failed with 1 conflict: ${only.message}: ${only.field}`);
  }
  const lines = byManager.flatMap(({ manager, paths }) => [
    `conflicts with ${describe(manager)}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  return newApplyConflict(causes, `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`);
}

function describe({ name, subresource, operation, apiVersion }: Manager): string {
  const who = `${quoted(name)}${subresource === '' ? '' : ` with subresource ${quoted(subresource)}`}`;
  return operation === 'Update' ? `${who} using ${apiVersion}` : who;
}
