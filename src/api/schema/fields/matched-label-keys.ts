import type { FieldError } from '../../field-error.ts';
import { fieldInvalid } from '../../field-error.ts';
import type { Fields } from './defaults-fields.ts';
import { listOfTextsAt, objectAt, objectsAt, textAt } from './defaults-fields.ts';

/**
 * Finds keys of `matchLabelKeys` that the label selector also has. The creation of the pod added one requirement for each key,
 * so only a second one was in the selector before. `path` is the path of the finding.
 */
export function validateKeysOnce(owner: Fields, path: string): FieldError[] {
  const keys = listOfTextsAt(owner, 'matchLabelKeys');
  if (keys.length === 0) return [];
  const last = new Map(keys.map((key, index) => [key, index]));
  const selector = objectAt(owner, 'labelSelector');
  const seen = new Set(Object.keys(objectAt(selector, 'matchLabels') ?? {}));
  const errors: FieldError[] = [];
  for (const expression of objectsAt(selector, 'matchExpressions')) {
    const key = textAt(expression, 'key');
    const index = last.get(key);
    if (index !== undefined && seen.has(key)) {
      errors.push(fieldInvalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    }
    seen.add(key);
  }
  return errors;
}
