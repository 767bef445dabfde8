import { type FieldError, fieldInvalid } from '../../api/field-error.ts';
import { isDns1035Label } from '../../api/validation/names.ts';
import { repeatedIndexes } from '../../base/collections/repeated.ts';

/** Versions of the review that a webhook says it knows: each once, and such that they could be one. */
export function validateReviewVersionNames(versions: readonly string[], path: string): FieldError[] {
  const repeated = repeatedIndexes(versions);
  return versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (repeated.has(index)) return [fieldInvalid(at, version, 'duplicate version')];
    return isDns1035Label(version).map((problem) => fieldInvalid(at, version, problem));
  });
}
