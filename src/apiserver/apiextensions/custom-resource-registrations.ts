import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo, SubresourceInfo, Verb } from '../../api/kinds/resource-info.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { compareVersions } from '../discovery/version-priority.ts';
import type { ResourceRegistration } from '../registry/resource-registry.ts';
import type { CustomVersions, RemoteConversion, StorageConversion } from '../registry/strategy.ts';
import { customResourceStrategy, scalePaths } from './custom-resource-strategy.ts';
import {
  type Definition,
  type DefinitionVersion,
  storageVersion,
  versionsOf,
  type WebhookConversion,
} from './definition.ts';
import type { WebhookConverter } from './webhook-converter.ts';
import { VersionSchema } from './version-schema.ts';

export interface RegistrationOptions {
  /** True if the definition is being deleted or is gone. Each create calls this before and after its write. */
  terminating(): boolean;
  converterFor(webhook: WebhookConversion): WebhookConverter;
}

export interface CustomResourceRegistrations {
  /** One for each served version. */
  readonly served: readonly ResourceRegistration[];
  /** The registration of the storage version, served or not, through which the objects are deleted. */
  readonly storage: ResourceRegistration;
}

const VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const TERMINATING_VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const SUBRESOURCE_VERBS: readonly Verb[] = ['get', 'patch', 'update'];
const SCALE = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** True if a built-in resource has the name. The definition is stored but serves nothing. */
export function overlapsBuiltin({ spec }: Definition): boolean {
  return builtinResources().some(({ group, resource }) => group === spec.group && resource === spec.names.plural);
}

/**
 * A definition as rows of the registry (API-454). Undefined if it has no storage version, which every valid one has. `terminating` is
 * called at each create; the discovery document is fixed here.
 */
export function customResourceRegistrations(
  definition: Definition,
  { terminating, converterFor }: RegistrationOptions,
): CustomResourceRegistrations | undefined {
  const { spec } = definition;
  const stored = storageVersion(spec);
  if (stored === undefined) return undefined;
  const { strategy, webhook } = spec.conversion ?? {};
  const converter = strategy === 'Webhook' && webhook !== undefined ? converterFor(webhook) : undefined;
  const schemas = new Map(versionsOf(spec).map((version) => [version.name, schemaOf(definition, version)]));
  const versions = customVersions(definition, schemas, converter);
  const register = (version: DefinitionVersion, schema: VersionSchema): ResourceRegistration => {
    const conversion = conversionOf(definition, { schema, stored: stored.name, schemas, converter });
    const info = infoOf(definition, version, { storage: stored.name, terminating: terminating() });
    const deprecation = deprecationOf(definition, version);
    const strategy = customResourceStrategy({ version, schema, conversion, versions, terminating });
    return { info, strategy: deprecation === undefined ? strategy : { ...strategy, deprecation } };
  };
  const rows = versionsOf(spec).map((version) => {
    const schema = schemas.get(version.name) ?? schemaOf(definition, version);
    return { version, registration: register(version, schema) };
  });
  const storage = rows.find(({ version }) => version === stored)?.registration;
  if (storage === undefined) return undefined;
  return { served: rows.filter(({ version }) => version.served).map(({ registration }) => registration), storage };
}

function schemaOf({ spec, status }: Definition, { name, schema }: DefinitionVersion): VersionSchema {
  const kind = { group: spec.group, version: name, kind: status.acceptedNames.kind };
  return new VersionSchema(kind, schema?.openAPIV3Schema);
}

/** No schema is applied here, as upstream, so unknown fields of the other version cannot be reported (API-215). */
function customVersions(
  { spec }: Definition,
  schemas: ReadonlyMap<string, VersionSchema>,
  converter: WebhookConverter | undefined,
): CustomVersions {
  return {
    find(name) {
      const version = versionsOf(spec).find((one) => one.name === name);
      const schema = schemas.get(name);
      if (version === undefined || schema === undefined) return undefined;
      const scale = scalePaths(version);
      const hasStatus = version.subresources?.status !== undefined;
      return { schema, hasStatus, ...(scale === undefined ? {} : { scale }) };
    },
    convert(object, version) {
      const desired = { group: spec.group, version };
      if (converter === undefined) return { ...object, apiVersion: apiVersionOf(desired) };
      return converter.convert([object], desired).then(([converted = object]) => converted);
    },
  };
}

interface Conversion {
  readonly schema: VersionSchema;
  /** The storage version. */
  readonly stored: string;
  readonly schemas: ReadonlyMap<string, VersionSchema>;
  /** Present if the strategy is Webhook. */
  readonly converter: WebhookConverter | undefined;
}

/**
 * Objects are stored in one version and converted to any other by changing apiVersion and applying the target's schema (API-463). A schema is
 * applied only after the definition has changed, because until then all stored objects fit it.
 */
function conversionOf(definition: Definition, { schema, stored, schemas, converter }: Conversion): StorageConversion {
  const storageSchema = schemas.get(stored) ?? schema;
  const asStored = (object: KubeObject): VersionSchema => {
    const version = object.apiVersion?.slice(schema.group.length + 1) ?? stored;
    return schemas.get(version) ?? storageSchema;
  };
  const untouched = definition.metadata?.generation === 1;
  return {
    servesStoredBytes: untouched && schema === storageSchema,
    keepsMetadata: true,
    toStorage: (object) => (schema === storageSchema ? object : storageSchema.adopt(object)),
    fromStorage: (object) => {
      const source = asStored(object);
      const read = source.adopt(object);
      return source === schema ? read : schema.adopt(read);
    },
    ...(converter === undefined || (untouched && schema === storageSchema)
      ? {}
      : { remote: remoteConversion(converter, schema, storageSchema) }),
  };
}

/** The result is pruned and defaulted by the schema of its version, as on every read (API-464). */
function remoteConversion(
  converter: WebhookConverter,
  schema: VersionSchema,
  storageSchema: VersionSchema,
): RemoteConversion {
  return {
    async toStorage(object) {
      const [converted = object] = await converter.convert([object], storageSchema);
      return storageSchema === schema ? converted : storageSchema.adopt(converted);
    },
    async fromStorage(objects) {
      return (await converter.convert(objects, schema)).map((object) => schema.adopt(object));
    },
  };
}

function infoOf(
  { spec, status }: Definition,
  { name, subresources }: DefinitionVersion,
  { storage, terminating }: { readonly storage: string; readonly terminating: boolean },
): ResourceInfo {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = status.acceptedNames;
  const served: SubresourceInfo[] = [];
  if (subresources?.status !== undefined) {
    served.push({ name: 'status', verbs: SUBRESOURCE_VERBS, kind: { group: spec.group, version: name, kind } });
  }
  if (subresources?.scale !== undefined) served.push({ name: 'scale', verbs: SUBRESOURCE_VERBS, kind: SCALE });
  return {
    group: spec.group,
    version: name,
    resource: plural,
    kind,
    listKind,
    singular,
    namespaced: spec.scope === 'Namespaced',
    verbs: VERBS,
    ...(terminating ? { discoveryVerbs: TERMINATING_VERBS } : {}),
    shortNames,
    categories,
    subresources: served,
    defaultPropagation: 'Background',
    deleteReturnsObject: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    generation: subresources?.status === undefined ? 'content' : 'spec',
    nameRule: 'dnsSubdomain',
    storageVersion: storage,
  };
}

/** The warning for requests to a deprecated version: its own text, or the recommended version. */
function deprecationOf({ spec }: Definition, version: DefinitionVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const named = (name: string): string => `${apiVersionOf({ group: spec.group, version: name })} ${spec.names.kind}`;
  const [better] = versionsOf(spec)
    .filter(({ name, served, deprecated }) => served && deprecated !== true && compareVersions(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  return `${named(version.name)} is deprecated${better === undefined ? '' : `; use ${named(better)}`}`;
}
