import { sameBytes } from '../../base/same-bytes.ts';
import { LABEL_PLACES } from '../codec/metadata/json-labels.ts';
import type { LabelSelector } from './label-selector.ts';
import { type LabelRequirement, requirementMatches } from './requirement.ts';

interface Term {
  readonly requirement: LabelRequirement;
  readonly key: Uint8Array;
  readonly values: readonly Uint8Array[];
}

/** Matches a label selector against labels in a JSON text, at positions that `JsonLabels` finds, without creating strings. */
export class LabelTextMatcher {
  readonly #selector: LabelSelector;
  readonly #terms: readonly Term[];

  constructor(selector: LabelSelector) {
    this.#selector = selector;
    this.#terms = selector.requirements.map((requirement) => ({
      requirement,
      key: Buffer.from(requirement.key),
      values: requirement.values.map((value) => Buffer.from(value)),
    }));
  }

  /** Returns the result of {@link LabelSelector.matches} for the same labels. */
  matches(json: Uint8Array, places: readonly number[]): boolean {
    if (this.#terms.length === 0) return this.#selector.matches({});
    return this.#terms.every((term) => termMatches(term, json, places));
  }
}

function termMatches({ requirement, key, values }: Term, json: Uint8Array, places: readonly number[]): boolean {
  const label = find(key, json, places);
  if (label < 0) return requirementMatches(requirement, {});
  const start = places[label + 2]!;
  const end = places[label + 3]!;
  switch (requirement.operator) {
    case '=':
    case '==':
    case 'in':
      return values.some((value) => sameBytes(json, start, end, value));
    case '!=':
    case 'notin':
      return !values.some((value) => sameBytes(json, start, end, value));
    default: {
      const text = Buffer.from(json.buffer, json.byteOffset + start, end - start).toString();
      return requirementMatches(requirement, { [requirement.key]: text });
    }
  }
}

/** Index of the label, or -1. The last of two equal keys counts, as in a parser. */
function find(key: Uint8Array, json: Uint8Array, places: readonly number[]): number {
  for (let i = places.length - LABEL_PLACES; i >= 0; i -= LABEL_PLACES) {
    if (sameBytes(json, places[i]!, places[i + 1]!, key)) return i;
  }
  return -1;
}
