import type { GroupVersionKind } from '../meta/group-version-kind.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The propagation of a kind's version when a DELETE names no policy (API-247). */
export type DefaultPropagation = 'Background' | 'Orphan' | 'Unsupported';

/** How names of a kind are checked (API-063). */
export type NameRule = 'dnsSubdomain' | 'dnsLabel' | 'pathSegment' | 'service' | 'customResourceDefinition';

export interface SubresourceInfo {
  /** `status`, `scale`, `eviction`, … */
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** Kind of request and answer where it is not the parent's. */
  readonly kind: GroupVersionKind;
}

/**
 * One served resource in one version: a row, never code. Special behaviour hangs on flags here or on a strategy in
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
  /** Key into the type table; absent for custom resources, whose schema is their definition's. */
  readonly typeName?: string;
  readonly defaultPropagation: DefaultPropagation;
  /** DELETE that removed the object answers with the object instead of a Status (API-250). */
  readonly deleteReturnsObject: boolean;
  /** PUT of a missing object creates it (API-173). */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion overwrites (API-172). */
  readonly allowUnconditionalUpdate: boolean;
  /**
   * API-074. `spec`: starts at 1 and counts spec changes; `content`: the same, and a change of status is one too (API-466);
   * `fixed`: always 1; `keep`: what the client sent on create, for ever; `rises`: as `keep` on create, one more with each
   * spec change.
   */
  readonly generation: 'spec' | 'content' | 'fixed' | 'keep' | 'rises';
  readonly nameRule: NameRule;
  /** The verbs in discovery, where it shows fewer than are served (API-457); absent: `verbs`. */
  readonly discoveryVerbs?: readonly Verb[];
  /** The version in which the objects of a custom resource are stored. */
  readonly storageVersion?: string;
}
