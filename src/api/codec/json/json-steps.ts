import { A_TURN, type Steps } from '../../../base/time/steps.ts';
import { boundTextValues } from './body-values.ts';
import { duplicateFieldsOf, parseJsonText } from './json.ts';

export interface ReadJson {
  readonly value: unknown;
  /** Paths of duplicate keys (API-231). */
  readonly duplicates: readonly string[];
}

/**
 * Reads the JSON text of a body, with pauses.
 * @throws StatusError 413 for more values than a body may hold, 400 for a text that is not JSON
 */
export function* jsonTextSteps(text: string): Steps<ReadJson> {
  // The first pause ends in the turn in which the body came.
  yield A_TURN;
  boundTextValues(text);
  yield A_TURN;
  const value = parseJsonText(text);
  yield A_TURN;
  return { value, duplicates: duplicateFieldsOf(text, value) };
}
