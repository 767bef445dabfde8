import type { CustomColumn } from '../printers/custom-columns.ts';
import { JsonPathError, parseJsonPath } from '../printers/cells/json-path.ts';

/** The columns up to the first whose path cannot be read: a definition with a bad one is served all the same (API-435). */
export function servedColumns(columns: readonly CustomColumn[]): readonly CustomColumn[] {
  const bad = columns.findIndex(({ jsonPath }) => !isReadable(jsonPath));
  return bad < 0 ? columns : columns.slice(0, bad);
}

function isReadable(path: string): boolean {
  try {
    parseJsonPath(path);
    return true;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}
