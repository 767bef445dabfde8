import { inspect } from 'node:util';
import type { QueryValue } from '../../client/rest/resource-path.ts';
import { checkKeys } from './check-options.ts';

/**
 * How the server treats unknown and duplicate fields: `Strict` refuses them with 400, `Warn` (its default)
 * drops them and says so, which is in the trace, `Ignore` drops them.
 */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** Options of every write. */
export interface WriteOptions {
  /** The manager of the written fields. For an apply the name of the client unless given; otherwise left to the server. */
  readonly fieldManager?: string | undefined;
  /** Default: the setting of the cluster (`startCluster({ fieldValidation })`). */
  readonly fieldValidation?: FieldValidation | undefined;
  /** `['All']`: the server answers as it would, but changes nothing. */
  readonly dryRun?: readonly 'All'[] | undefined;
}

/** Further options of an update. */
export interface UpdateOptions extends WriteOptions {
  /** Writes this part of the object: `status`, `scale`, … */
  readonly subresource?: string | undefined;
}

/** Further options of a patch. */
export interface PatchOptions extends UpdateOptions {
  /** An apply takes fields over from other managers instead of failing with a conflict. */
  readonly force?: boolean | undefined;
}

/** Options of an apply. */
export type ApplyOptions = PatchOptions;

const WRITE_KEYS = ['fieldManager', 'fieldValidation', 'dryRun'];

/** The options that each call takes, by its name. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  create: WRITE_KEYS,
  createOrUpdate: WRITE_KEYS,
  update: [...WRITE_KEYS, 'subresource'],
  updateStatus: WRITE_KEYS,
  patch: [...WRITE_KEYS, 'subresource', 'force'],
  patchStatus: [...WRITE_KEYS, 'force'],
  apply: [...WRITE_KEYS, 'subresource', 'force'],
};

const VALIDATIONS: readonly FieldValidation[] = ['Strict', 'Warn', 'Ignore'];

/** Throws a TypeError for an invalid value. For callers without types. */
export function checkFieldValidation(given: unknown): void {
  if (given === undefined || (VALIDATIONS as readonly unknown[]).includes(given)) return;
  throw new TypeError(`fieldValidation is one of ${VALIDATIONS.join(', ')}, not ${inspect(given)}`);
}

/**
 * The options as parameters of a request. Throws a TypeError for an option that the call does not take. `defaults` hold for options that
 * are not given.
 */
export function writeQuery(call: string, options: PatchOptions, defaults: PatchOptions): Record<string, QueryValue> {
  checkKeys(call, options, KEYS[call] ?? []);
  checkFieldValidation(options.fieldValidation);
  const { dryRun, force } = options;
  return {
    fieldManager: options.fieldManager ?? defaults.fieldManager,
    fieldValidation: options.fieldValidation ?? defaults.fieldValidation,
    dryRun: dryRun?.[0],
    force,
  };
}
