import { newBadRequest } from '../status-error.ts';

export interface FieldRequirement {
  readonly field: string;
  /** `==` is parsed as `=`. */
  readonly operator: '=' | '!=';
  /** Unescaped. */
  readonly value: string;
}

/** A conjunction of requirements on single fields. Immutable. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[];

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements;
  }

  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** `get` returns the value of a field, or an empty text for an unset one. */
  matches(get: (field: string) => string): boolean {
    return this.requirements.every(({ field, operator, value }) => (get(field) === value) === (operator === '='));
  }

  /**
   * The value that the selector requires of a field. With this value, a list by `metadata.name=x` becomes a read of one object (API-103).
   */
  exact(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  /** The text form, which parses to an equal selector. */
  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
  }
}

/** Escapes a literal value for a field selector (API-102). */
export function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, (character) => `\\${character}`);
}

/** The `fieldSelector` of a query (API-102). The type decides which fields exist. Throws a 400 StatusError. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  // Upstream sorts the terms, which determines which of several problems is reported.
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw newBadRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, raw = ''] = match;
    requirements.push({ field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(raw) });
  }
  return new FieldSelector(requirements);
}

function splitTerms(text: string): string[] {
  return text.match(/(?:\\.|[^\\,]|\\$)+/gs) ?? [];
}

function unescapeValue(raw: string): string {
  return raw.replace(/\\(.?)|[,=]/gsu, (found: string, escaped: string | undefined) => {
    if (escaped === undefined) {
      // Upstream prints the code of the character instead of the character.
      throw newBadRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    }
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped;
    throw newBadRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
  });
}
