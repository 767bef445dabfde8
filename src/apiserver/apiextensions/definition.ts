import { equalJson } from '../../api/codec/json/json-value.ts';
import type { JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import type { Condition } from '../../api/meta/conditions.ts';
import { isConditionTrue } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { WebhookClientConfig } from '../webhook-client/client-config.ts';
import type { CustomColumn } from '../printers/custom-columns.ts';

/** Fields of a decoded CustomResourceDefinition (apiextensions.k8s.io/v1). */

export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionScale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps };
  readonly subresources?: { readonly status?: object; readonly scale?: DefinitionScale };
  readonly additionalPrinterColumns?: readonly CustomColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** `spec.conversion.webhook`. */
export interface WebhookConversion {
  readonly clientConfig?: WebhookClientConfig;
  readonly conversionReviewVersions?: readonly string[] | null;
}

export interface DefinitionSpec {
  readonly group: string;
  readonly names: DefinitionNames;
  readonly scope: string;
  /** Null in a definition that was not validated yet. */
  readonly versions: readonly DefinitionVersion[] | null;
  readonly conversion?: { readonly strategy: string; readonly webhook?: WebhookConversion };
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionStatus {
  readonly conditions: readonly Condition[] | null;
  readonly acceptedNames: DefinitionNames;
  readonly storedVersions: readonly string[] | null;
}

export interface Definition extends KubeObject {
  spec: DefinitionSpec;
  status: DefinitionStatus;
}

export const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' } as const;

const NO_NAMES: DefinitionNames = { plural: '', kind: '' };
const NO_SPEC: DefinitionSpec = { group: '', names: NO_NAMES, scope: '', versions: null };
const NO_STATUS: DefinitionStatus = { conditions: null, acceptedNames: NO_NAMES, storedVersions: null };

/**
 * A stored definition in the form that controllers need. A definition that was not created by this server (a restored backup, an older
 * version) may lack its status or more. Such a definition serves nothing until it is validated, and never stops the server.
 */
export function definitionOf(object: KubeObject): Definition {
  const { spec, status } = object as Partial<Definition>;
  return {
    ...object,
    spec: { ...NO_SPEC, ...spec, names: { ...NO_NAMES, ...spec?.names } },
    status: { ...NO_STATUS, ...status },
  };
}

/** True if it is being deleted or has the condition Terminating, so that no object may be created (API-457). */
export function isTerminating({ metadata, status }: Definition): boolean {
  return Boolean(metadata?.deletionTimestamp) || isConditionTrue(status.conditions, 'Terminating');
}

export function isEstablished({ status }: Definition): boolean {
  return isConditionTrue(status.conditions, 'Established');
}

/** True if objects can be read and written, because the names are or were accepted (API-454). */
export function isServed(definition: Definition): boolean {
  return isEstablished(definition) || isConditionTrue(definition.status.conditions, 'NamesAccepted');
}

/** The storage version. Every valid definition has one. */
export function storageVersion(spec: DefinitionSpec): DefinitionVersion | undefined {
  return versionsOf(spec).find(({ storage }) => storage);
}

export function versionsOf({ versions }: DefinitionSpec): readonly DefinitionVersion[] {
  return versions ?? [];
}

/** True if both states of a definition serve the same resources. */
export function isServedAlike(next: Definition, previous: Definition): boolean {
  return (
    next.metadata?.uid === previous.metadata?.uid &&
    isServed(next) === isServed(previous) &&
    equalJson(next.spec, previous.spec) &&
    equalJson(next.status.acceptedNames, previous.status.acceptedNames)
  );
}
