import {
  clusterRole,
  clusterWidget,
  configMap,
  replicationController,
  secret,
  type TestKind,
  widget,
} from '../kinds.ts';

export interface SimulatedKind extends TestKind {
  /**
   * `builtin`: typed. `added`: served as a custom resource is, but without the cost of a definition. `defined`: only while its
   * CustomResourceDefinition exists.
   */
  readonly origin: 'builtin' | 'added' | 'defined';
}

const gadget: TestKind = {
  kind: 'Gadget',
  gvr: { group: 'example.com', version: 'v1', resource: 'gadgets' },
  namespaced: true,
  body: {},
};
const clusterGadget: TestKind = {
  kind: 'ClusterGadget',
  gvr: { group: 'example.com', version: 'v1', resource: 'clustergadgets' },
  namespaced: false,
  body: {},
};

const all: readonly SimulatedKind[] = [
  ...[configMap, secret, clusterRole, replicationController].map((kind) => ({ ...kind, origin: 'builtin' as const })),
  ...[widget, clusterWidget].map((kind) => ({ ...kind, origin: 'added' as const })),
  ...[gadget, clusterGadget].map((kind) => ({ ...kind, origin: 'defined' as const })),
];

/** The kinds that a plan may name. */
export const KINDS: ReadonlyMap<string, SimulatedKind> = new Map(all.map((kind) => [kind.kind, kind]));

export function kindNamed(name: string): SimulatedKind {
  const kind = KINDS.get(name);
  if (kind === undefined) throw new Error(`the simulation knows no kind ${name}`);
  return kind;
}

/** False for kinds that the simulation does not know. */
export function isNamespacedKind(name: string): boolean {
  return KINDS.get(name)?.namespaced === true;
}

export const DEFINITIONS = {
  gvr: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
  kind: 'CustomResourceDefinition',
};

/** The leases of nodes, as in any cluster: they are kube-apiserver's own, and written every few seconds. No plan names one. */
export const LEASES = {
  gvr: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' },
  kind: 'Lease',
};

export function definitionName({ gvr }: TestKind): string {
  return `${gvr.resource}.${gvr.group}`;
}

/** The CustomResourceDefinition of a kind. */
export function definitionOf(kind: TestKind): object {
  const { gvr, namespaced } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: DEFINITIONS.kind,
    metadata: { name: definitionName(kind) },
    spec: {
      group: gvr.group,
      names: {
        kind: kind.kind,
        plural: gvr.resource,
        singular: kind.kind.toLowerCase(),
        listKind: `${kind.kind}List`,
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [{ name: gvr.version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
}
