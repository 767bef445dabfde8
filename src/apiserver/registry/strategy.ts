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

/**
 * The manager of a write in managedFields: an update by its manager, or an apply, which has decided about them already.
 */
export type FieldTracking = { readonly by: 'update'; readonly manager: string } | { readonly by: 'apply' };

/** The options of a create, update or patch as the client gave them; what it did not give is absent. */
export interface WriteRequestOptions {
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
}

/** The options of a write, beside the object. */
export interface WriteContext {
  readonly user: UserInfo;
  /** The client's request, as admission shows it; absent in writes of the server's own. */
  readonly options?: WriteRequestOptions | undefined;
  /** `skipped`: the server does what admission has allowed already, or what nobody may stop. Default: asked. */
  readonly admission?: 'skipped' | undefined;
  /** Size of the body; absent in writes of the server's own. */
  readonly bodyBytes?: number | undefined;
  /** When the request is answered with a time-out, by `Clock.monotonic`; absent where nobody waits. */
  readonly deadline?: number | undefined;
  /** Everything happens except persistence (API-236). */
  readonly dryRun: boolean;
  /** Absent in writes of the server's own: they leave managedFields as they are. */
  readonly tracking?: FieldTracking | undefined;
  /** Throws the 403 when a PUT or apply finds nothing and its user may not create. Absent in writes of the server's own. */
  readonly authorizeCreate?: (() => void) | undefined;
  /** Adds an annotation to the audit event of the request; absent in writes of the server's own. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
  /** Adds a `Warning` header to the answer (API-010). */
  readonly warn: (text: string) => void;
  /** The time of the request is over: what is retried is given up (API-006). */
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

/** One literal, as it is made for each write: see `base/http-message.ts`. */
export function strategyContext(write: WriteContext, { info, subresource, now }: WrittenPlace): StrategyContext {
  const { user, options, admission, deadline, dryRun, tracking, authorizeCreate, annotate, warn, expired } = write;
  return {
    user,
    options,
    admission,
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

/** How objects of one served version are kept, where that is the business of a definition (API-461..463). */
export interface StorageConversion {
  /** The stored bytes are those that this version serves. */
  readonly servesStoredBytes: boolean;
  /** Metadata is the same in all versions, so that who needs no more can have it unconverted. */
  readonly keepsMetadata: boolean;
  toStorage(object: KubeObject): KubeObject;
  /** Never changes its input. */
  fromStorage(object: KubeObject): KubeObject;
  /** Present where somebody outside converts: then it is asked instead of the two above. */
  readonly remote?: RemoteConversion;
}

/** Conversion by a webhook (API-464). Neither changes its input; both reject with a StatusError when there is no answer. */
export interface RemoteConversion {
  toStorage(object: KubeObject): Promise<KubeObject>;
  /** From whatever versions the objects are in, in order. */
  fromStorage(objects: readonly KubeObject[]): Promise<readonly KubeObject[]>;
}

/** The versions of a custom resource, served or not, as whoever manages fields of one needs them (API-215). */
export interface CustomVersions {
  /** Undefined: the definition has no such version. */
  find(version: string): CustomVersion | undefined;
  /** As the conversion of the definition makes it, not yet held to the schema. Rejects with a StatusError. */
  convert(object: KubeObject, version: string): KubeObject | Promise<KubeObject>;
}

export interface CustomVersion {
  readonly schema: ObjectSchema;
  /** Whether status has an endpoint of its own there. */
  readonly hasStatus: boolean;
  /** Absent where it has no Scale. */
  readonly scale?: ScalePaths;
}

/** Where a custom resource keeps what its Scale shows: paths like `.spec.replicas` (API-467). */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Absent: the Scale shows no selector. */
  readonly labelSelector?: string;
}

/**
 * The special behaviour of a kind, in the terms of apiserver `rest.RESTCreateStrategy` and friends. All kinds without a row in
 * {@link file://./strategies/strategy-table.ts} get none of it. `object` and `next` are the caller's own in the request's version and
 * may be changed; but parts of `next` below its top level and metadata may be shared with `previous` (status split): they are
 * replaced, never changed in place. `previous` is shared and not touched.
 */
export interface Strategy {
  /**
   * After defaults, admission, name and uid, before validation. A refusal is thrown. When a generated name is taken it is called
   * again, on its own output, with the next name.
   */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void | Promise<void>;
  /**
   * Once for each time that {@link prepareForCreate} has let an object pass, as soon as it is known what became of it. `not stored`: it was
   * refused after that, its name was taken, or it was a dry run.
   */
  createEnded?(object: KubeObject, outcome: StoreOutcome): void;
  /**
   * After a create has been stored: refuses it by throwing when what {@link prepareForCreate} has seen no longer holds. Whoever
   * created the object takes it back, and says so by {@link released}.
   */
  stored?(object: KubeObject, context: StrategyContext): void;
  /** For the object itself and every subresource; status has already been split off (API-152, API-175, API-330). */
  prepareForUpdate?(next: KubeObject, previous: KubeObject, context: StrategyContext): void | Promise<void>;
  /**
   * Once for each `next` that {@link prepareForUpdate} has let pass. `not stored`: it was refused after that, another write was faster, it
   * was a dry run, or nothing had to be written.
   */
  updateEnded?(next: KubeObject, previous: KubeObject, outcome: StoreOutcome): void;
  validate?(object: KubeObject): readonly FieldError[];
  validateUpdate?(next: KubeObject, previous: KubeObject, context: StrategyContext): readonly FieldError[];
  /** Instead of `decideDelete` of `api/deletion`. */
  decideDelete?(input: DeleteInput): DeleteDecision;
  /** A stored object is gone, in its last state: frees its addresses. */
  released?(object: KubeObject): void;
  /** API-152 has exceptions: nodes bring their status along. Default: dropped. */
  readonly statusOnCreate?: 'kept';
  /** Through `/status` the old metadata stays, apart from what API-314 and API-330 name. Default: metadata is written. */
  readonly statusKeepsMetadata?: boolean;
  /** For a custom resource, from its definition; built-in kinds have theirs in the type table. */
  readonly schema?: ObjectSchema;
  /** For a custom resource; built-in kinds have theirs in `api/selectors`. */
  readonly selectableFields?: SelectableFields;
  /** For a custom resource; built-in kinds have theirs in `api/conversion`. */
  readonly conversion?: StorageConversion;
  /** For a custom resource; those of a built-in kind are resources of their own. */
  readonly versions?: CustomVersions;
  /** For a custom resource; built-in kinds have theirs in `printers`. */
  readonly printerColumns?: readonly CustomColumn[];
  /** For a custom resource; built-in kinds have `spec.replicas`. */
  readonly scale?: ScalePaths;
  /** For a custom resource, as its definition has it; built-in kinds have theirs in the type table. */
  readonly openApiSchema?: JsonSchemaProps;
  /** Every request to a deprecated version is warned with it. */
  readonly deprecation?: string;
}

export const plainStrategy: Strategy = {};
