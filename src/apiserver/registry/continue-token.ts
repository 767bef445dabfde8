import { foundName } from '../../api/schema/decoding/decode-problem.ts';
import { jsonSyntaxProblem } from '../../api/codec/json/syntax-problem.ts';
import { newBadRequest } from '../../api/status-error.ts';

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
  const illegal = illegalBase64(text);
  if (illegal !== undefined) throw invalid(`illegal base64 data at input byte ${illegal}`);
  const json = Buffer.from(text, 'base64url').toString();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalid(jsonSyntaxProblem(json));
  }
  const { v = '', rv, start } = tokenFields(value);
  if (v !== 'meta.k8s.io/v1') throw invalid(`server does not recognize this encoded version ${v}`);
  if (!Number.isSafeInteger(rv) || rv === 0) {
    throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  if (start.startsWith('/') || start.split('/').includes('..')) {
    throw invalid(start);
  }
  // Any negative revision means the newest, as in kube-apiserver.
  return { revision: Math.max(rv as number, INCONSISTENT), startKey: prefix + start };
}

const FIELD_TYPES = { v: 'string', rv: 'number', start: 'string' } as const;

/** The fields of a token; a value of another type is refused in the words of Go. */
function tokenFields(value: unknown): { v?: string; rv?: number; start?: string } {
  if (value === null) return {};
  if (foundName(value) !== 'object') {
    throw invalid(`json: cannot unmarshal ${foundName(value)} into Go value of type storage.continueToken`);
  }
  const fields = value as Record<string, unknown>;
  for (const [name, type] of Object.entries(FIELD_TYPES)) {
    const field = fields[name] ?? undefined;
    if (field === undefined || typeof field === type) continue;
    const goType = type === 'number' ? 'int64' : type;
    throw invalid(
      `json: cannot unmarshal ${foundName(field)} into Go struct field continueToken.${name} of type ${goType}`,
    );
  }
  return fields;
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
