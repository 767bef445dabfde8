import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../../api/field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported } from '../../../api/field-error.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { newBadRequest, newInvalid, newUntypedInternal } from '../../../api/status-error.ts';
import { queryBoolean } from './request-info.ts';

/** The query of a list or watch, parsed but not validated (apimachinery `ListOptions`). Selectors are still text. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly shardSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 means no limit. */
  readonly limit: number;
  readonly continueToken: string;
  /** Seconds; 0 if not given. */
  readonly timeoutSeconds: number;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** A malformed number is a 400 (API-016). */
export function parseListOptions(query: URLSearchParams): ListOptions {
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    shardSelector: query.get('shardSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: queryInteger(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    timeoutSeconds: queryInteger(query, 'timeoutSeconds') ?? 0,
    allowWatchBookmarks: queryBoolean(query, 'allowWatchBookmarks'),
    sendInitialEvents: query.has('sendInitialEvents') ? queryBoolean(query, 'sendInitialEvents') : undefined,
  };
}

function queryInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text)) {
    throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  if (!Number.isSafeInteger(value)) {
    throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return value;
}

const listOptionsKind = { group: 'meta.k8s.io', kind: 'ListOptions' };

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid(listOptionsKind, '', errors);
}

function unknownMatch(match: string): FieldError[] {
  if (match === '' || match === 'Exact' || match === 'NotOlderThan') return [];
  return [fieldNotSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', ''])];
}

/** Throws for combinations of list options that contradict each other (API-097, API-100). */
export function validateListOptions(options: ListOptions): void {
  const { resourceVersion, resourceVersionMatch, continueToken } = options;
  const errors: FieldError[] = [];
  if (options.sendInitialEvents !== undefined) {
    errors.push(fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (resourceVersionMatch !== '') {
    if (resourceVersion === '') {
      errors.push(
        fieldForbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      );
    }
    if (continueToken !== '') {
      errors.push(
        fieldForbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
      );
    }
    append(errors, unknownMatch(resourceVersionMatch));
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
      errors.push(
        fieldForbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  refuse(errors);
  if (continueToken !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw newBadRequest('specifying resource version is not allowed when using continue');
  }
}

/** Throws for combinations of watch options that contradict each other (API-130). */
export function validateWatchOptions(options: ListOptions): void {
  const { resourceVersionMatch, sendInitialEvents } = options;
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan') {
    errors.push(
      fieldForbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (resourceVersionMatch !== '') {
    if (sendInitialEvents === undefined) {
      errors.push(
        fieldForbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      );
    }
    if (options.continueToken !== '') {
      errors.push(
        fieldForbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
      );
    }
    append(errors, unknownMatch(resourceVersionMatch));
  }
  refuse(errors);
}

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * An unsigned number of 64 bits, or Go's error for any other text. No store has reached a version beyond 2^53, so a higher one is in the
 * future.
 */
function parseRevision(text: string): number | string {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${quoted(text)}: invalid syntax`;
  if (BigInt(text) > MAX_UINT64) return `strconv.ParseUint: parsing ${quoted(text)}: value out of range`;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER - 1);
}

/** The version of a list; a malformed one is a 400 (API-139). Empty counts as 0: newest. */
export function listRevision(text: string): number {
  if (text === '') return 0;
  const revision = parseRevision(text);
  if (typeof revision === 'string') throw newBadRequest(`invalid resource version: ${malformed(text, revision)}`);
  return revision;
}

/** The version of a GET or a watch; a malformed one is a 500 without a reason (API-139). Empty counts as 0: newest. */
export function readRevision(text: string): number {
  if (text === '') return 0;
  const revision = parseRevision(text);
  if (typeof revision === 'string') throw newUntypedInternal(malformed(text, revision));
  return revision;
}

function malformed(text: string, why: string): string {
  return `resourceVersion: ${fieldInvalid('resourceVersion', text, why).message}`;
}
