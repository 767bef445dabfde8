import { isJsonObject } from '../codec/json/json-value.ts';

/**
 * The behavior of an autoscaler in the annotation of `autoscaling/v1`. Upstream marshals its internal type there, so field names start in
 * upper case and absent fields are null.
 */
type Fields = Record<string, unknown>;

const RULE_FIELDS = ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'];

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Go matches field names case-insensitively. */
function fieldIn(object: Fields, name: string): unknown {
  const found = Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase());
  return found === undefined ? undefined : (object[found] ?? undefined);
}

export function printBehavior(behavior: Fields): string {
  const printRules = (rules: unknown): unknown => {
    if (!isJsonObject(rules)) return null;
    return Object.fromEntries(
      RULE_FIELDS.map((name) => {
        const value = rules[name] ?? null;
        const printed = Array.isArray(value)
          ? value.filter(isJsonObject).map((policy) => ({
              Type: policy['type'],
              Value: policy['value'],
              PeriodSeconds: policy['periodSeconds'],
            }))
          : value;
        return [capitalized(name), printed];
      }),
    );
  };
  return JSON.stringify({ ScaleUp: printRules(behavior['scaleUp']), ScaleDown: printRules(behavior['scaleDown']) });
}

/** Undefined if the text is not JSON or contains no behavior. */
export function parseBehavior(text: string): Fields | undefined {
  const parsed = parseAnnotation(text);
  if (!isJsonObject(parsed)) return undefined;
  const behavior: Fields = {};
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = fieldIn(parsed, direction);
    if (isJsonObject(rules)) behavior[direction] = parseRules(rules);
  }
  return Object.keys(behavior).length === 0 ? undefined : behavior;
}

function parseRules(rules: Fields): Fields {
  const out: Fields = {};
  for (const name of RULE_FIELDS) {
    const value = fieldIn(rules, name);
    if (value === undefined) continue;
    out[name] = Array.isArray(value)
      ? value.filter(isJsonObject).map((policy) => ({
          type: fieldIn(policy, 'type') ?? '',
          value: fieldIn(policy, 'value') ?? 0,
          periodSeconds: fieldIn(policy, 'periodSeconds') ?? 0,
        }))
      : value;
  }
  return out;
}

/** The JSON of an annotation, which may have any content because users can edit it. */
export function parseAnnotation(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
