import type { GroupVersionKind } from '../meta/group-version-kind.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The propagation of a kind's version when a DELETE names no policy (API-247). */
export type DefaultPropagation = 'Background' | 'Orphan' | 'Unsupported';

/** The rule for names of a kind (API-063). */
export type NameRule = 'dnsSubdomain' | 'dnsLabel' | 'pathSegment' | 'service' | 'customResourceDefinition';

export interface SubresourceInfo {
  /** `status`, `scale`, `eviction`, … */
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind of request and answer, if it differs from the parent's. */
  readonly kind: GroupVersionKind;
}

/**
 * One served resource in one version. A row is data without code. Special behaviour is a flag here or a strategy in
 * `apiserver/registry/strategies`, chosen by group and resource.
 */
export interface ResourceInfo {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case: `configmaps`. */
  readonly resource: string;
  readonly kind: string;
  readonly listKind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly SubresourceInfo[];
  /** Key into the type table; absent for custom resources, whose definition has the schema. */
  readonly typeName?: string;
  readonly defaultPropagation: DefaultPropagation;
  /** A DELETE that removed the object answers with the object instead of a Status (API-250). */
  readonly deleteReturnsObject: boolean;
  /** PUT of a missing object creates it (API-173). */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion overwrites (API-172). */
  readonly allowUnconditionalUpdate: boolean;
  /**
   * The rule for `metadata.generation` (API-074). `spec` starts at 1 and counts changes of the spec. `content` also counts changes of the
   * status (API-466). `fixed` is always 1. `keep` keeps the value that the client sent in the create. `rises` starts as `keep` and counts
   * changes of the spec.
   */
  readonly generation: 'spec' | 'content' | 'fixed' | 'keep' | 'rises';
  readonly nameRule: NameRule;
  /** The verbs in discovery, if it shows fewer than are served (API-457); otherwise absent. */
  readonly discoveryVerbs?: readonly Verb[];
  /** The version in which the objects of a custom resource are stored. */
  readonly storageVersion?: string;
}
