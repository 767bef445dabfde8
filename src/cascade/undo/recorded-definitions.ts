import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { groupKind } from './rebuilt-by-controller.ts';
import type { ServedKind } from './undo-facts.ts';

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly kind?: string; readonly plural?: string };
  readonly versions?: readonly {
    readonly name: string;
    readonly served?: boolean;
    readonly subresources?: { readonly status?: object };
  }[];
}

/** The kinds that will be served after the recorded definitions are restored. */
export function recordedDefinitions(
  bodies: Iterable<KubeObject>,
): (apiVersion: string, kind: string) => ServedKind | undefined {
  const specs = new Map<string, DefinitionSpec>();
  for (const body of bodies) {
    if (groupKind(body.apiVersion, body.kind) !== 'apiextensions.k8s.io/CustomResourceDefinition') continue;
    const spec = (body['spec'] ?? {}) as DefinitionSpec;
    specs.set(`${spec.group}/${spec.names?.kind}`, spec);
  }
  return (apiVersion, kind) => {
    const spec = specs.get(groupKind(apiVersion, kind));
    const name = parseGroupVersion(apiVersion)?.version;
    const version = spec?.versions?.find((each) => each.name === name && each.served === true);
    if (spec?.names?.plural === undefined || version === undefined) return undefined;
    return {
      resource: spec.names.plural,
      namespaced: spec.scope === 'Namespaced',
      statusSubresource: version.subresources?.status !== undefined,
      builtIn: false,
    };
  };
}
