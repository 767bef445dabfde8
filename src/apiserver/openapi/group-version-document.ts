import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { typeNameOf } from '../../api/kinds/type-table.ts';
import type { GroupVersion, GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { customResourceListSchema, customResourceSchema } from './custom-resource-schema.ts';
import { customDefinitionName, metaTypeName, schemaRef } from './definition-name.ts';
import type { JsonSchema, JsonSchemas } from './json-schema.ts';
import { buildPaths, type Paths } from './path-builder.ts';
import { SchemaBuilder } from './schema-builder.ts';

/** The `openAPIV3Schema` of a custom resource's definition; undefined if the version has none. */
export type CustomSchemaOf = (info: ResourceInfo) => JsonSchema | undefined;

export interface GroupVersionDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Paths;
  readonly components: { readonly schemas: JsonSchemas; readonly securitySchemes: unknown };
}

/** The OpenAPI v3 document of one group version (API-411, API-413). */
export function groupVersionDocument(
  groupVersion: GroupVersion,
  resources: readonly ResourceInfo[],
  customSchemaOf: CustomSchemaOf,
): GroupVersionDocument {
  const builder = new SchemaBuilder(groupVersion);
  const add = (typeName: string): string => schemaRef(builder.add(typeName));
  const customs = new Map(resources.filter((info) => info.typeName === undefined).map((info) => [info.kind, info]));
  for (const info of customs.values()) addCustom(builder, info, customSchemaOf);
  const kindRef = (kind: GroupVersionKind): string | undefined => {
    if (kind.group === groupVersion.group && kind.version === groupVersion.version && customs.has(kind.kind)) {
      return schemaRef(customDefinitionName(kind.group, kind.version, kind.kind));
    }
    if (STREAM_OPTIONS.test(kind.kind)) return undefined;
    const typeName = typeNameOf(apiVersionOf(kind), kind.kind);
    return typeName === undefined ? undefined : add(typeName);
  };
  const paths = buildPaths(groupVersion, resources, {
    kind: kindRef,
    list: (info) =>
      customs.has(info.kind)
        ? schemaRef(customDefinitionName(info.group, info.version, info.listKind))
        : (kindRef({ group: info.group, version: info.version, kind: info.listKind }) ?? add(metaTypeName('Status'))),
    // Getters, so that only schemas in use are added to the document.
    get patch() {
      return builder.patchRef();
    },
    get deleteOptions() {
      return add(metaTypeName('DeleteOptions'));
    },
    get status() {
      return add(metaTypeName('Status'));
    },
    get resourceList() {
      return add(metaTypeName('APIResourceList'));
    },
  });
  if (resources.some(({ verbs }) => verbs.includes('watch'))) add(metaTypeName('WatchEvent'));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths,
    components: {
      schemas: builder.build(),
      securitySchemes: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    },
  };
}

/** Kinds that represent the query parameters of exec, attach, proxy and similar subresources. */
const STREAM_OPTIONS = /^(?:Pod|Node|Service)\w*Options$/;

function addCustom(builder: SchemaBuilder, info: ResourceInfo, customSchemaOf: CustomSchemaOf): void {
  builder.add(metaTypeName('ObjectMeta'));
  builder.add(metaTypeName('ListMeta'));
  const definition = customDefinitionName(info.group, info.version, info.kind);
  builder.addSchema(definition, customResourceSchema(info, customSchemaOf(info)));
  builder.addSchema(
    customDefinitionName(info.group, info.version, info.listKind),
    customResourceListSchema({ ...info, kind: info.listKind }, schemaRef(definition)),
  );
}
