import { append } from '../../base/collections/append.ts';
import type { Int64 } from '../../base/json/exact-json.ts';
import { foundName, foundNumber } from '../schema/decoding/decode-problem.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldNotSupported } from '../field-error.ts';
import { quoted } from '../meta/quoted.ts';
import type { StatusError } from '../status-error.ts';
import { newBadRequest, newInvalid } from '../status-error.ts';

/** The propagation policy for dependents of a deleted object. */
export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

/** The options of a DELETE. An absent field was not given. */
export interface DeleteOptions {
  /** Seconds; negative counts as 1 (API-255). */
  gracePeriodSeconds?: number;
  /** One of {@link PropagationPolicy} after {@link validateDeleteOptions} accepted it. */
  propagationPolicy?: string;
  /** The older form of the policy. The two exclude each other (API-241). */
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  /** `['All']`: the server answers, but changes nothing. */
  dryRun?: string[];
  /** Deletes an object that cannot be read, whatever finalizers it has. */
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** The option's name in queries, bodies and errors. */
const UNREADABLE = 'ignoreStoreReadErrorWithClusterBreakingPotential';

const POLICIES: readonly PropagationPolicy[] = ['Foreground', 'Background', 'Orphan'];

export function isDryRun(options: DeleteOptions): boolean {
  return (options.dryRun?.length ?? 0) > 0;
}

/** The 422 for invalid options (API-241, API-236); undefined for valid ones. */
export function validateDeleteOptions(options: DeleteOptions): StatusError | undefined {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents, dryRun } = options;
  if (orphanDependents !== undefined && policy !== undefined) {
    errors.push(
      fieldInvalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (policy !== undefined && !(POLICIES as readonly string[]).includes(policy)) {
    errors.push(fieldNotSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  }
  if (dryRun !== undefined && dryRun.some((value) => value !== 'All')) {
    errors.push(fieldNotSupported('dryRun', dryRun, ['All']));
  }
  if (options[UNREADABLE] === true) append(errors, besideUnreadable(options));
  if (errors.length === 0) return undefined;
  return newInvalid(optionsKind, '', errors);
}

const optionsKind = { group: 'meta.k8s.io', kind: 'DeleteOptions' };

/** An object that cannot be read has no dependents, grace or version that another option could concern. */
function besideUnreadable(options: DeleteOptions): readonly FieldError[] {
  const others = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;
  return others
    .filter((other) => options[other] !== undefined)
    .map((other) => fieldInvalid(UNREADABLE, true, `cannot be set together with .${other}`));
}

/** The 422 of {@link DeleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential} where it cannot be used. */
export function unreadableRefused(why: 'collection' | 'readable'): StatusError {
  const text =
    why === 'collection'
      ? 'is not allowed with DELETECOLLECTION, try again after removing the option'
      : 'is exclusively used to delete corrupt object(s), try again by removing this option';
  return newInvalid(optionsKind, '', [fieldInvalid(UNREADABLE, true, text)]);
}

/**
 * Options of a DELETE without a body (API-240). Preconditions are the flat parameters `uid` and `resourceVersion` (apimachinery
 * `Convert_url_Values_To_v1_DeleteOptions`); empty values count as absent. Throws a 400 StatusError for a grace period that is not an
 * integer.
 */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptions {
  const options: DeleteOptions = {};
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null) options.gracePeriodSeconds = parseSeconds(grace);
  const orphan = query.get('orphanDependents');
  // Query booleans never fail (API-016): every value except an explicit false is true.
  if (orphan !== null) options.orphanDependents = orphan.toLowerCase() !== 'false' && orphan !== '0';
  const policy = query.get('propagationPolicy');
  if (policy !== null) options.propagationPolicy = policy;
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) options.dryRun = dryRun;
  const unreadable = query.get(UNREADABLE);
  if (unreadable !== null) options[UNREADABLE] = unreadable.toLowerCase() !== 'false' && unreadable !== '0';
  const uid = query.get('uid');
  const resourceVersion = query.get('resourceVersion');
  if (uid || resourceVersion) {
    options.preconditions = {};
    if (uid) options.preconditions.uid = uid;
    if (resourceVersion) options.preconditions.resourceVersion = resourceVersion;
  }
  return options;
}

function parseSeconds(text: string): number {
  const failure = (why: string): StatusError => newBadRequest(`strconv.ParseInt: parsing ${quoted(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw failure('invalid syntax');
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value !== BigInt.asIntN(64, value)) throw failure('value out of range');
  return Number(value);
}

/**
 * Options from a decoded request body (API-240): an object, or any other value that a client sent. Null and unknown fields count as absent.
 * Throws a 400 StatusError for another kind or a wrong type. The caller has already checked that the body is not empty; the query is
 * ignored if there is a body.
 */
export function deleteOptionsFromBody(body: unknown): DeleteOptions {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw newBadRequest(`json: cannot unmarshal ${foundName(body)} into Go value of type v1.DeleteOptions`);
  }
  const source = body as Record<string, unknown>;
  const kind = read(source, 'kind', 'string');
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw newBadRequest('decoded object cannot be converted to DeleteOptions');
  }
  const options: DeleteOptions = {};
  const grace = read(source, 'gracePeriodSeconds', 'int64');
  if (grace !== undefined) options.gracePeriodSeconds = Number(grace);
  const policy = read(source, 'propagationPolicy', 'string');
  if (policy !== undefined) options.propagationPolicy = policy;
  const orphan = read(source, 'orphanDependents', 'bool');
  if (orphan !== undefined) options.orphanDependents = orphan;
  const unreadable = read(source, UNREADABLE, 'bool');
  if (unreadable !== undefined) options[UNREADABLE] = unreadable;
  const preconditions = read(source, 'preconditions', 'object');
  if (preconditions !== undefined) {
    const uid = read(preconditions, 'uid', 'string', 'preconditions.');
    const resourceVersion = read(preconditions, 'resourceVersion', 'string', 'preconditions.');
    options.preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
  }
  const dryRun = read(source, 'dryRun', 'array');
  if (dryRun !== undefined) {
    options.dryRun = dryRun.map((value) => {
      if (typeof value !== 'string') throw wrongType(value, 'dryRun', 'string');
      return value;
    });
  }
  return options;
}

interface FieldTypes {
  string: string;
  bool: boolean;
  int64: Int64;
  object: Record<string, unknown>;
  array: unknown[];
}

const GO_TYPES: Readonly<Record<keyof FieldTypes, string>> = {
  string: 'string',
  bool: 'bool',
  int64: 'int64',
  object: 'v1.Preconditions',
  array: '[]string',
};

function read<T extends keyof FieldTypes>(
  source: Record<string, unknown>,
  field: string,
  type: T,
  prefix = '',
): FieldTypes[T] | undefined {
  const value = source[field];
  if (value === undefined || value === null) return undefined;
  if (!hasType(value, type)) throw wrongType(value, prefix + field, GO_TYPES[type]);
  return value;
}

function hasType<T extends keyof FieldTypes>(value: unknown, type: T): value is FieldTypes[T] {
  if (type === 'int64') return typeof value === 'bigint' || Number.isSafeInteger(value);
  return foundName(value) === type;
}

function wrongType(value: unknown, path: string, goType: string): StatusError {
  const found = typeof value === 'number' && goType === GO_TYPES.int64 ? foundNumber(value) : foundName(value);
  return newBadRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${path} of type ${goType}`);
}
