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
  const json = Buffer.from(text, 'base64url').toString();
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw invalid('illegal encoding');
  }
  if (typeof value !== 'object' || value === null) throw invalid('illegal encoding');
  const { v, rv, start } = value as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== 'meta.k8s.io/v1')
    throw invalid(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`);
  if (!Number.isSafeInteger(rv) || rv === 0 || (rv as number) < INCONSISTENT) {
    throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  if (start.startsWith('/') || start.split('/').includes('..')) {
    throw newBadRequest(`continue key is not valid: ${JSON.stringify(start)}`);
  }
  return { revision: rv as number, startKey: prefix + start };
}

function invalid(why: string): Error {
  return newBadRequest(`invalid continue token: continue key is not valid: ${why}`);
}
