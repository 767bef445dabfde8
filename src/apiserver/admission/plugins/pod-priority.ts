import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import { isOfPods, type Pod, podSpecOf } from './pod-object.ts';
import type { TableEnvironment } from './table-environment.ts';

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
  readonly preemptionPolicy: string | undefined;
}

/** The priority of pods without a class, if no class is the default. */
const NO_CLASS: PriorityClass = { name: '', value: 0, globalDefault: false, preemptionPolicy: 'PreemptLowerPriority' };

const SCHEDULING = 'scheduling.k8s.io';

/** Sets the priority of a pod from its class, and allows at most one default class (API-341, API-512). */
export class PodPriority implements AdmissionPlugin {
  readonly name = 'Priority';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #classes: LiveTable<PriorityClass>;

  constructor(environment: TableEnvironment) {
    const prefix = resourcePrefix({ group: SCHEDULING, resource: 'priorityclasses' });
    this.#classes = new LiveTable({ ...environment, prefix, read: classOf });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  admit(attributes: AdmissionAttributes): void {
    const { operation, object, oldObject } = attributes;
    if (!isOfPods(attributes) || object === undefined) return;
    if (operation === 'CREATE') this.#establish(attributes, object as Pod);
    if (operation === 'UPDATE' && oldObject !== undefined) keep(object as Pod, oldObject as Pod);
  }

  validate(attributes: AdmissionAttributes): void {
    const { info, subresource, operation, object } = attributes;
    if (info.group !== SCHEDULING || info.resource !== 'priorityclasses' || subresource !== '') return;
    if (object === undefined || object['globalDefault'] !== true) return;
    const other = this.#default();
    if (other === undefined || (operation === 'UPDATE' && other.name === object.metadata?.name)) return;
    const why = `PriorityClass ${other.name} is already marked as default. Only one default can exist`;
    throw admissionForbidden(attributes, why);
  }

  #establish(attributes: AdmissionAttributes, pod: Pod): void {
    const spec = podSpecOf(pod);
    const asked = spec.priorityClassName ?? '';
    const found = asked === '' ? (this.#default() ?? NO_CLASS) : this.#classes.get(asked);
    if (found === undefined) throw admissionForbidden(attributes, `no PriorityClass with name ${asked} was found`);
    const { name, value, preemptionPolicy } = found;
    if (spec.priority !== undefined && spec.priority !== value) {
      const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
      throw admissionForbidden(attributes, why);
    }
    if (name !== '') spec.priorityClassName = name;
    spec.priority = value;
    if (preemptionPolicy === undefined) return;
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
      const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
      throw admissionForbidden(attributes, why);
    }
    spec.preemptionPolicy = preemptionPolicy;
  }

  /** The default class. If concurrent creates made several, the one with the lowest value. */
  #default(): PriorityClass | undefined {
    let lowest: PriorityClass | undefined;
    for (const [, row] of this.#classes.entries()) {
      if (row.globalDefault && (lowest === undefined || row.value < lowest.value)) lowest = row;
    }
    return lowest;
  }
}

function classOf(object: KubeObject): PriorityClass {
  const { value, globalDefault, preemptionPolicy } = object;
  return {
    name: object.metadata?.name ?? '',
    value: typeof value === 'number' ? value : 0,
    globalDefault: globalDefault === true,
    preemptionPolicy: typeof preemptionPolicy === 'string' ? preemptionPolicy : undefined,
  };
}

/** Keeps the stored values, so that a client that does not know the fields cannot remove them. */
function keep(next: Pod, previous: Pod): void {
  const { priority, preemptionPolicy } = previous.spec ?? {};
  const spec = podSpecOf(next);
  if (spec.priority === undefined && priority !== undefined) next.spec = { ...spec, priority };
  if (spec.preemptionPolicy === undefined && preemptionPolicy !== undefined) {
    next.spec = { ...podSpecOf(next), preemptionPolicy };
  }
}
