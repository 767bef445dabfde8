import { inspect } from 'node:util';
import type { QueryValue } from '../../client/rest/resource-path.ts';
import { checkKeys } from './check-options.ts';

/**
 * What the server does with fields that it does not know, or that stand twice: `Strict` refuses them with 400, `Warn` (its default)
 * drops them and says so, which is in the trace, `Ignore` drops them.
 */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** What every write takes. */
export interface WriteOptions {
  /** Who the fields belong to then. For an apply the name of the client unless given; otherwise left to the server. */
  readonly fieldManager?: string | undefined;
  /** Unless given, that of the cluster (`startCluster({ fieldValidation })`). */
  readonly fieldValidation?: FieldValidation | undefined;
  /** `['All']`: the server answers as it would, but changes nothing. */
  readonly dryRun?: readonly 'All'[] | undefined;
}

/** What an update takes besides. */
export interface UpdateOptions extends WriteOptions {
  /** Writes this part of the object: `status`, `scale`, … */
  readonly subresource?: string | undefined;
}

/** What a patch takes besides. */
export interface PatchOptions extends UpdateOptions {
  /** Of an apply: takes fields that others have, where it would be a conflict. */
  readonly force?: boolean | undefined;
}

/** What an apply takes. */
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

/** Throws a TypeError for what is no validation of fields. For callers without types. */
export function checkFieldValidation(given: unknown): void {
  if (given === undefined || (VALIDATIONS as readonly unknown[]).includes(given)) return;
  throw new TypeError(`fieldValidation is one of ${VALIDATIONS.join(', ')}, not ${inspect(given)}`);
}

/**
 * The options as parameters of a request. Throws a TypeError for an option that the call does not take.
 * `defaults` hold for what is not given.
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
