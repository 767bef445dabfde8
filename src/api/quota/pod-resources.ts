import { addLists, maxLists, parseResourceList, type ResourceList } from './resource-list.ts';

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
}

/** The fields of a pod's spec that determine its resources. */
export interface PodResources {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
  readonly overhead?: unknown;
}

/** Resources that a pod may request as a whole, instead of its containers. */
const POD_LEVEL: ReadonlySet<string> = new Set(['cpu', 'memory']);

/**
 * The maximum that a pod requests at one time (upstream `component-helpers/resource`). It is the greater of two sums: all containers
 * together with restartable init containers; or one other init container with the restartable ones before it. Requests of the pod as a
 * whole take precedence.
 */
export function podResources(spec: PodResources, field: 'requests' | 'limits'): ResourceList {
  const of = ({ resources }: Container): ResourceList => parseResourceList(resources?.[field]);
  let running: ResourceList = new Map();
  for (const container of spec.containers ?? []) running = addLists(running, of(container));
  let sidecars: ResourceList = new Map();
  let starting: ResourceList = new Map();
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      running = addLists(running, of(container));
      sidecars = addLists(sidecars, of(container));
      starting = maxLists(starting, sidecars);
    } else {
      starting = maxLists(starting, addLists(of(container), sidecars));
    }
  }
  const whole = [...parseResourceList(spec.resources?.[field])].filter(([name]) => POD_LEVEL.has(name));
  return new Map([...maxLists(running, starting), ...whole]);
}
