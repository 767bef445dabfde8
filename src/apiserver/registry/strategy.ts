import type { Steps } from '../../base/time/steps.ts';
import type { DeleteInput } from '../../api/deletion/before-delete.ts';
import type { DeleteDecision } from '../../api/deletion/delete-decision.ts';
import type { FieldError } from '../../api/field-error.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { SelectableFields } from '../../api/selectors/selectable-fields.ts';
import type { JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { CustomColumn } from '../printers/custom-columns.ts';
import type { ObjectSchema } from './object/object-schema.ts';
import type { StoreOutcome } from './store-outcome.ts';

/** The origin of managedFields: an update by this manager, or an apply, which has already computed them. */
export type FieldTracking = { readonly by: 'update'; readonly manager: string } | { readonly by: 'apply' };

/** The options of a create, update or patch that the client set; others are absent. */
export interface WriteRequestOptions {
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

/** The options of a write, in addition to the object. */
export interface WriteContext {
  readonly user: UserInfo;
  /** The client's options, for admission; absent in the server's own writes. */
  readonly options?: WriteRequestOptions | undefined;
  /** `skipped` is for writes that admission has already allowed, or that must not be refused. Default: admission is asked. */
  readonly admission?: 'skipped' | undefined;
  /** Size of the body; absent in the server's own writes. */
  readonly bodyBytes?: number | undefined;
  /** The time by `Clock.monotonic` at which the request times out; absent if it does not. */
  readonly deadline?: number | undefined;
  /** Everything happens except persistence (API-236). */
  readonly dryRun: boolean;
  /** Absent in the server's own writes, which keep managedFields unchanged. */
  readonly tracking?: FieldTracking | undefined;
  /** Throws a 403 if a PUT or apply would create and its user may not. Absent in the server's own writes. */
  readonly authorizeCreate?: (() => void) | undefined;
  /** Adds an annotation to the audit event of the request; absent in the server's own writes. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
  /** Adds a `Warning` header to the answer (API-010). */
  readonly warn: (text: string) => void;
  /** True once the request has timed out, so that retries stop (API-006). */
  readonly expired: () => boolean;
}

/** The object and time of a write. */
interface WrittenPlace {
  readonly info: ResourceInfo;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Epoch ms. */
  readonly now: number;
}

export interface StrategyContext extends WriteContext, WrittenPlace {}

/** Creates one object literal for each write; see `base/http-message.ts`. */
export function strategyContext(write: WriteContext, { info, subresource, now }: WrittenPlace): StrategyContext {
  const { user, options, admission, bodyBytes, deadline, dryRun, tracking, authorizeCreate, annotate, warn, expired } =
    write;
  return {
    user,
    options,
    admission,
    bodyBytes,
    deadline,
    dryRun,
    tracking,
    authorizeCreate,
    annotate,
    warn,
    expired,
    info,
    subresource,
    now,
  };
}

/** How objects of one served version are stored, if a definition determines it (API-461..463). */
export interface StorageConversion {
  /** True if stored bytes are those of this version. */
  readonly servesStoredBytes: boolean;
  /** True if metadata is the same in all versions, so that it can be read without conversion. */
  readonly keepsMetadata: boolean;
  toStorage(object: KubeObject): KubeObject;
  /** Does not change its input. */
  fromStorage(object: KubeObject): KubeObject;
  /** Present if a webhook converts; it is used instead of the two above. */
  readonly remote?: RemoteConversion;
}

/** Conversion by a webhook (API-464). Both methods leave their input unchanged, and reject with a StatusError if the webhook fails. */
export interface RemoteConversion {
  toStorage(object: KubeObject): Promise<KubeObject>;
  /** Converts from any versions, in order. */
  fromStorage(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>;
}

/** The versions of a custom resource, served or not, for managers of fields (API-215). */
export interface CustomVersions {
  /** Undefined if the definition has no such version. */
  find(version: string): CustomVersion | undefined;
  /** Converts as the definition says, before the schema is applied. Rejects with a StatusError. */
  convert(object: KubeObject, version: string): KubeObject | Promise<KubeObject>;
}

export interface CustomVersion {
  readonly schema: ObjectSchema;
  /** True if the version has a status subresource. */
  readonly hasStatus: boolean;
  /** Absent if the version has no Scale. */
  readonly scale?: ScalePaths;
}

/** Paths of the values of a custom resource's Scale, such as `.spec.replicas` (API-467). */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** If absent, the Scale has no selector. */
  readonly labelSelector?: string;
}

/** The findings of a validation; in steps where it may take long. */
export type Findings = readonly FieldError[] | Steps<readonly FieldError[]>;

/**
 * The special behaviour of a kind, like apiserver's `rest.RESTCreateStrategy` and others. Kinds without a row in {@link
 * file://./strategies/strategy-table.ts} have none. `object` and `next` belong to the caller, are in the request's version and may be
 * changed; but parts of `next` below its top level and metadata may be shared with `previous`, so they are replaced instead of changed in
 * place. `previous` is shared and must not be changed.
 */
export interface Strategy {
  /**
   * Runs after defaults, admission, name and uid, and before validation. Refuses by throwing. If a generated name is taken, this is called
   * again with its own output and the next name.
   */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void | Promise<void>;
  /**
   * Called once for each object that {@link prepareForCreate} accepted, when its outcome is known. `not stored` means that it was refused
   * later, that its name was taken, or that it was a dry run.
   */
  createEnded?(object: KubeObject, outcome: StoreOutcome): void;
  /**
   * Runs after a create has been stored, and refuses it by throwing if a condition that {@link prepareForCreate} checked no longer holds.
   * The caller then deletes the object and calls {@link released}.
   */
  stored?(object: KubeObject, context: StrategyContext): void;
  /** Runs for the object itself and every subresource, after status was split off (API-152, API-175, API-330). */
  prepareForUpdate?(next: KubeObject, previous: KubeObject, context: StrategyContext): void | Promise<void>;
  /**
   * Called once for each `next` that {@link prepareForUpdate} accepted. `not stored` means that it was refused later, that another write
   * was first, that it was a dry run, or that nothing changed.
   */
  updateEnded?(next: KubeObject, previous: KubeObject, outcome: StoreOutcome): void;
  validate?(object: KubeObject): Findings;
  validateUpdate?(next: KubeObject, previous: KubeObject, context: StrategyContext): Findings;
  /** Replaces `decideDelete` of `api/deletion`. */
  decideDelete?(input: DeleteInput): DeleteDecision;
  /** Called when a stored object was deleted, with its last state; frees its addresses. */
  released?(object: KubeObject): void;
  /** `kept` for kinds that are created with their status, such as nodes (API-152). Default: dropped. */
  readonly statusOnCreate?: 'kept';
  /** True if `/status` keeps the old metadata, except as API-314 and API-330 say. Default: metadata is written. */
  readonly statusKeepsMetadata?: boolean;
  /** For custom resources, from the definition; built-in kinds have the type table. */
  readonly schema?: ObjectSchema;
  /** For custom resources; built-in kinds have `api/selectors`. */
  readonly selectableFields?: SelectableFields;
  /** For custom resources; built-in kinds have `api/conversion`. */
  readonly conversion?: StorageConversion;
  /** For custom resources; versions of built-in kinds are separate resources. */
  readonly versions?: CustomVersions;
  /** For custom resources; built-in kinds have `printers`. */
  readonly printerColumns?: readonly CustomColumn[];
  /** For custom resources; built-in kinds have `spec.replicas`. */
  readonly scale?: ScalePaths;
  /** For custom resources, from the definition; built-in kinds have the type table. */
  readonly openApiSchema?: JsonSchemaProps;
  /** The warning for every request to a deprecated version. */
  readonly deprecation?: string;
}

export const plainStrategy: Strategy = {};
