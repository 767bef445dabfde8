/** A list with more elements than this is written in parts. */
const LONG_LIST = 1000;
/** Elements of a part. */
const PART = 100;

/** A member of a document, or a part of a member that is a long list. */
export interface DocumentPart {
  readonly key: string;
  /** Elements of the list, if it is a part. */
  readonly value: unknown;
  /** True for the first part of a member. Both are true for a member that is whole. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/**
 * The members of a document that are defined, long lists among them in parts. Every format writes a document part by part, because the text
 * of a plan of a million objects has more characters than a string may have.
 */
export function* documentParts(document: object): Generator<DocumentPart> {
  for (const [key, value] of Object.entries(document) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!isLong(value)) {
      yield { key, value, isFirst: true, isLast: true };
      continue;
    }
    for (let i = 0; i < value.length; i += PART) {
      yield { key, value: value.slice(i, i + PART), isFirst: i === 0, isLast: i + PART >= value.length };
    }
  }
}

/** True for a document with a long list among its members, or among those of a member: such a member is a document of its own. */
export function isLongDocument(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((member) => isLong(member) || isLongDocument(member));
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > LONG_LIST;
}
