import { posix } from 'node:path';
import { foundName, foundNumber } from '../../api/schema/decoding/decode-problem.ts';
import { jsonSyntaxProblem } from '../../api/codec/json/syntax-problem.ts';
import { newBadRequest } from '../../api/status-error.ts';
import { parseExactJson } from '../../base/json/exact-json.ts';

/**
 * The position of a list (API-097, API-098): the snapshot and the first key not yet sent, relative to the list's prefix. `revision` -1
 * means that there is no snapshot and the list continues at the newest version (the token of an expired list, API-099).
 */
export interface ContinueToken {
  readonly revision: number;
  /** Full storage key, inclusive. */
  readonly startKey: string;
}

/** The list continues at the newest revision. */
export const INCONSISTENT = -1;

export function encodeContinueToken(token: ContinueToken, prefix: string): string {
  const start = token.startKey.slice(prefix.length);
  const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start });
  return Buffer.from(json).toString('base64url');
}

/** Throws a 400 for any token that this server cannot have sent, in particular for keys outside the list's range. */
export function decodeContinueToken(text: string, prefix: string): ContinueToken {
  const { v, rv, start } = tokenFields(text);
  if (v !== 'meta.k8s.io/v1') throw invalid(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (start === '') throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  const key = start.startsWith('/') ? start : `/${start}`;
  if (posix.resolve(key) !== key) throw invalid(start);
  return { revision: rv < 0 ? INCONSISTENT : rv, startKey: prefix + key.slice(1) };
}

const FIELD_TYPES = { v: 'string', rv: 'int64', start: 'string' } as const;

interface TokenFields {
  readonly v: string;
  readonly rv: number;
  readonly start: string;
}

/** The fields of a token, whose names may have any case; a value of another type is refused in the words of Go. */
function tokenFields(text: string): TokenFields {
  const value = tokenValue(text);
  const fields: Record<string, unknown> = { v: '', rv: 0, start: '' };
  if (value === null) return fields as unknown as TokenFields;
  if (foundName(value) !== 'object') {
    throw invalid(`json: cannot unmarshal ${foundName(value)} into Go value of type storage.continueToken`);
  }
  for (const [name, field] of Object.entries(value as Record<string, unknown>)) {
    const known = name.toLowerCase() as keyof typeof FIELD_TYPES;
    const type = FIELD_TYPES[known];
    if (type === undefined || field === null) continue;
    const mismatch = mismatchOf(field, type);
    if (mismatch !== undefined) {
      throw invalid(`json: cannot unmarshal ${mismatch} into Go struct field continueToken.${known} of type ${type}`);
    }
    fields[known] = typeof field === 'bigint' ? Number(field) : field;
  }
  return fields as unknown as TokenFields;
}

function tokenValue(text: string): unknown {
  // Go's decoder skips line breaks.
  const base64 = text.replaceAll(/[\r\n]/g, '');
  const illegal = illegalBase64(base64);
  if (illegal !== undefined) throw invalid(`illegal base64 data at input byte ${illegal}`);
  const json = Buffer.from(base64, 'base64url');
  try {
    return parseExactJson(json.toString());
  } catch {
    throw invalid(jsonSyntaxProblem(json));
  }
}

function mismatchOf(value: unknown, type: 'string' | 'int64'): string | undefined {
  if (type === 'string') return typeof value === 'string' ? undefined : foundName(value);
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return undefined;
  return typeof value === 'number' ? foundNumber(value) : foundName(value);
}

/** The offset, as Go reports it, of the first error in a text of base64 for URLs without padding. */
function illegalBase64(text: string): number | undefined {
  const at = text.search(/[^\w-]/);
  if (at >= 0) return at;
  // A single remaining letter holds less than a byte.
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}

function invalid(why: string): Error {
  return newBadRequest(`invalid continue token: continue key is not valid: ${why}`);
}
