import { addLists, maxLists, parseResourceList, type ResourceList } from './resource-list.ts';

interface Container {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
}

/** The part of a pod's spec that says what it needs. */
export interface PodResources {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
  readonly overhead?: unknown;
}

/** Resources that a pod may ask for as a whole, instead of its containers. */
const POD_LEVEL: ReadonlySet<string> = new Set(['cpu', 'memory']);

/**
 * The most that a pod requests at one time (upstream `component-helpers/resource`): all its containers and those of its init
 * containers that go on running, or one of the others before that, whichever is more; requests of the pod as a whole count instead.
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
