import { podResources } from '../../quota/pod-resources.ts';
import { resourceListFields } from '../../quota/resource-list.ts';
import { type Fields, objectAt } from '../fields/defaults-fields.ts';
import { isHugePages } from '../fields/resource-names.ts';

/** Resources of which a node may promise more than it has. */
const OVERCOMMITTED: ReadonlySet<string> = new Set(['cpu', 'memory']);

function isPodLevel(name: string): boolean {
  return OVERCOMMITTED.has(name) || isHugePages(name);
}

/**
 * Sets the resources that a pod with pod-level resources leaves out: limits of huge pages come from its containers; requests come from its
 * containers, otherwise from its limits (core/v1 `defaultHugePagePodLimits`, `defaultPodRequests`). The containers already have their
 * defaults.
 */
export function defaultPodLevelResources(spec: Fields): void {
  const resources = objectAt(spec, 'resources');
  if (resources === undefined) return;
  const limits = { ...objectAt(resources, 'limits') };
  const requests = { ...objectAt(resources, 'requests') };
  if (isEmpty(limits) && isEmpty(requests)) return;
  const containers = { ...spec, resources: undefined };
  for (const [name, amount] of Object.entries(resourceListFields(podResources(containers as object, 'limits')))) {
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= amount;
  }
  if (isEmpty(limits)) return;
  resources['limits'] = limits;
  for (const [name, amount] of Object.entries(resourceListFields(podResources(containers as object, 'requests')))) {
    if (OVERCOMMITTED.has(name)) requests[name] ??= amount;
  }
  for (const [name, amount] of Object.entries(limits)) if (isPodLevel(name)) requests[name] ??= amount;
  if (!isEmpty(requests)) resources['requests'] = requests;
}

function isEmpty(list: Fields): boolean {
  return Object.keys(list).length === 0;
}
