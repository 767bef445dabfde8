import type { KubeObject } from '../../api/meta/object-meta.ts';
import {
  addLists,
  amount,
  onlyNames,
  parseResourceList,
  resourceListFields,
  type ResourceList,
  sameLists,
} from '../../api/quota/resource-list.ts';
import { isWithin, scopesOf } from '../../api/quota/scopes.ts';
import { consumedNames, usageOf } from '../../api/quota/usage.ts';

export interface CountedKind {
  readonly group: string;
  readonly resource: string;
}

/** Kinds with counts under names of their own, in addition to `count/…`. */
const KNOWN: readonly CountedKind[] = [
  ...[
    'configmaps',
    'persistentvolumeclaims',
    'pods',
    'replicationcontrollers',
    'resourcequotas',
    'secrets',
    'services',
  ].map((resource) => ({ group: '', resource })),
  { group: 'resource.k8s.io', resource: 'resourceclaims' },
];

/** The resources whose objects a quota has to count. */
export function countedKinds({ spec }: KubeObject): readonly CountedKind[] {
  const names = [...parseResourceList((spec as { hard?: unknown } | undefined)?.hard).keys()];
  const kinds = new Map<string, CountedKind>();
  const add = (kind: CountedKind): void => void kinds.set(`${kind.resource}.${kind.group}`, kind);
  for (const kind of KNOWN) if (consumedNames(kind, names).size > 0) add(kind);
  for (const name of names) {
    const [, resource = '', group = ''] = /^count\/([^.]+)(?:\.(.+))?$/.exec(name) ?? [];
    if (resource !== '') add({ group, resource });
  }
  return [...kinds.values()];
}

export interface Content {
  readonly kind: CountedKind;
  /** All objects of the kind in the quota's namespace. */
  readonly objects: readonly KubeObject[];
}

type QuotaDecision =
  | { readonly verdict: 'update'; readonly object: KubeObject; readonly reason: 'different' }
  | { readonly verdict: 'nothing'; readonly reason: 'upToDate' };

/** The status of a quota: its limits, and the usage of each (upstream `pkg/controller/resourcequota`). */
export function decideQuotaStatus(quota: KubeObject, contents: readonly Content[], now: number): QuotaDecision {
  const hard = parseResourceList((quota['spec'] as { hard?: unknown } | undefined)?.hard);
  const used = usedOf(quota, contents, { hard, now });
  const status = (quota['status'] ?? {}) as { hard?: unknown; used?: unknown };
  const there = { hard: parseResourceList(status.hard), used: parseResourceList(status.used) };
  const complete = status.hard !== undefined && status.used !== undefined;
  if (complete && sameLists(there.hard, hard) && sameLists(there.used, used)) {
    return { verdict: 'nothing', reason: 'upToDate' };
  }
  const next = { hard: resourceListFields(hard), used: resourceListFields(used) };
  return { verdict: 'update', object: { ...quota, status: next }, reason: 'different' };
}

function usedOf(
  quota: KubeObject,
  contents: readonly Content[],
  { hard, now }: { readonly hard: ResourceList; readonly now: number },
): ResourceList {
  const scopes = scopesOf(quota['spec']);
  let used: ResourceList = new Map();
  for (const { kind, objects } of contents) {
    const names = consumedNames(kind, hard.keys());
    // A resource without objects has a count as well.
    for (const name of names) used = addLists(used, new Map([[name, amount(0)]]));
    for (const object of objects) {
      if (isWithin(kind, object, scopes)) used = addLists(used, onlyNames(usageOf(kind, object, now), names));
    }
  }
  return used;
}
