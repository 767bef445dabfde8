import { type FieldError, fieldInvalid } from '../../api/field-error.ts';
import { isDns1035Label } from '../../api/validation/names.ts';
import { repeatedIndexes } from '../../base/collections/repeated.ts';

/** Checks the review versions of a webhook: each occurs once, and has the form of a version. */
export function validateReviewVersionNames(versions: readonly string[], path: string): FieldError[] {
  const repeated = repeatedIndexes(versions);
  return versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (repeated.has(index)) return [fieldInvalid(at, version, 'duplicate version')];
    return isDns1035Label(version).map((problem) => fieldInvalid(at, version, problem));
  });
}
