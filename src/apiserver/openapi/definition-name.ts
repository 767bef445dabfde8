import { META_V1 } from '../../api/kinds/type-table.ts';

/** Names of schemas in a document: the Go package and type, host first (kube-openapi `ToRESTFriendlyName`). */

export const PATCH_DEFINITION = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';

const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

const SPECIAL: Readonly<Record<string, string>> = {
  Time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  MicroTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  FieldsV1: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  Quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  JSON: `${APIEXTENSIONS}.JSON`,
  JSONSchemaPropsOrArray: `${APIEXTENSIONS}.JSONSchemaPropsOrArray`,
  JSONSchemaPropsOrBool: `${APIEXTENSIONS}.JSONSchemaPropsOrBool`,
  JSONSchemaPropsOrStringArray: `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`,
};

/** `api/core/v1.Pod` -> `io.k8s.api.core.v1.Pod`; special types have their own packages. */
export function definitionName(typeName: string): string {
  return SPECIAL[typeName] ?? `io.k8s.${typeName.replaceAll('/', '.')}`;
}

/** `example.com`, `v1`, `Widget` -> `com.example.v1.Widget`. A custom resource has no Go package, so its group is used. */
export function customDefinitionName(group: string, version: string, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
}

export function metaTypeName(kind: string): string {
  return `${META_V1}.${kind}`;
}

export function schemaRef(definition: string): string {
  return `#/components/schemas/${definition}`;
}
