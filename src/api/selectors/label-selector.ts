import { quoted } from '../meta/quoted.ts';
import { newBadRequest } from '../status-error.ts';
import type { LabelSelectorObject } from '../validation/labels.ts';
import { LabelSelectorSyntaxError, parseRequirements } from './label-selector-parser.ts';
import type { LabelOperator, LabelRequirement, Labels } from './requirement.ts';
import { formatRequirement, requirementMatches, requirementProblem } from './requirement.ts';

const NO_LABELS: Labels = Object.freeze({});

/** A conjunction of requirements, sorted by key. Immutable. */
export class LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly #matchesNothing: boolean;

  private constructor(requirements: readonly LabelRequirement[], matchesNothing = false) {
    this.requirements = requirements;
    this.#matchesNothing = matchesNothing;
  }

  static readonly everything: LabelSelector = new LabelSelector([]);
  static readonly nothing: LabelSelector = new LabelSelector([], true);

  /** The requirements must be valid: see `requirementProblem`. */
  static of(requirements: readonly LabelRequirement[]): LabelSelector {
    if (requirements.length === 0) return LabelSelector.everything;
    return new LabelSelector(requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
  }

  matches(labels: Labels | undefined): boolean {
    if (this.#matchesNothing) return false;
    const given = labels ?? NO_LABELS;
    return this.requirements.every((requirement) => requirementMatches(requirement, given));
  }

  /** True when it selects every object. */
  get empty(): boolean {
    return this.requirements.length === 0 && !this.#matchesNothing;
  }

  /** The text form, which parses to an equal selector. It is empty for a selector of everything and of nothing. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(',');
  }
}

/** The `labelSelector` of a query (API-101). Throws a 400 StatusError. */
export function parseLabelSelector(text: string): LabelSelector {
  try {
    return LabelSelector.of(parseRequirements(text));
  } catch (error) {
    if (error instanceof LabelSelectorSyntaxError) throw newBadRequest(error.message);
    throw error;
  }
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * The selector of an object (`spec.selector` of workloads). An absent selector matches nothing, an empty one everything. Throws a 400
 * StatusError for a malformed one.
 */
export function labelSelectorFromObject(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (selector === undefined || selector === null) return LabelSelector.nothing;
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: '=',
    values: [value],
  }));
  const sets = (selector.matchExpressions ?? []).map(({ key = '', operator = '', values }): LabelRequirement => {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (known === undefined) throw newBadRequest(`${quoted(operator)} is not a valid label selector operator`);
    return { key, operator: known, values: [...(values ?? [])] };
  });
  const requirements = [...exact, ...sets];
  for (const requirement of requirements) {
    const problem = requirementProblem(requirement);
    if (problem !== undefined) throw newBadRequest(problem);
  }
  return LabelSelector.of(requirements);
}

/** The selector from a plain map (`spec.selector` of services and replication controllers). An empty map matches everything. */
export function labelSelectorFromSet(labels: Labels | undefined): LabelSelector {
  return LabelSelector.of(
    Object.entries(labels ?? {}).map(([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] })),
  );
}
