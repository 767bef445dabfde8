export const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const SOAK_GROUP = 'soak.example.com';

/** `things7` is the plural of `Thing7`. */
export function kindOf(plural: string): string {
  return `T${plural.slice(1).replace('s', '')}`;
}

/** A CustomResourceDefinition of namespaced objects without a schema of their own. */
export function definitionOf(plural: string): object {
  const schema = { openAPIV3Schema: { type: 'object' } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${SOAK_GROUP}` },
    spec: {
      group: SOAK_GROUP,
      scope: 'Namespaced',
      names: { plural, kind: kindOf(plural) },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
