import type { KubeObject, OwnerReference } from '../../../src/api/meta/object-meta.ts';
import { deepEqual } from '../../../src/base/collections/deep-equal.ts';

/** An object with the fields that a judge reads. */
export interface Stored extends KubeObject {
  readonly kind: string;
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly suspend?: boolean;
    readonly nodeName?: string;
    readonly affinity?: object;
    readonly unschedulable?: boolean;
    readonly completions?: number;
    readonly parallelism?: number;
    readonly podManagementPolicy?: string;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: { readonly metadata?: object; readonly spec?: object };
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly replicas?: number;
    readonly observedGeneration?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export function storedObject(value: Uint8Array): Stored {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()) as Stored;
}

export const uidOf = ({ metadata }: KubeObject): string => metadata?.uid ?? '';
export const show = ({ kind, metadata }: Stored): string =>
  `${kind} ${metadata?.namespace ?? ''}/${metadata?.name ?? ''} (${metadata?.uid ?? ''})`;
export const isTerminating = ({ metadata }: KubeObject): boolean => Boolean(metadata?.deletionTimestamp);
export const isFinished = ({ status }: Stored): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
export const isActive = (pod: Stored): boolean => !isFinished(pod) && !isTerminating(pod);
export const hasCondition = ({ status }: Stored, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller);
export const specReplicas = ({ spec }: Stored): number => spec?.replicas ?? 1;

/** Whether the selector of the workload matches the labels of the object. */
export function selects({ spec }: Stored, { metadata }: KubeObject): boolean {
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => metadata?.labels?.[key] === value);
}

/** Templates are the same but for the label that a Deployment adds (LIFE-302). */
export function sameTemplate(one: Stored, other: Stored): boolean {
  const bare = ({ spec }: Stored) => {
    const template = structuredClone(spec?.template ?? {}) as { metadata?: { labels?: Record<string, string> } };
    delete template.metadata?.labels?.['pod-template-hash'];
    return template;
  };
  return deepEqual(bare(one), bare(other));
}

/** Every object of the store, by its key. */
export class StoredWorkloads {
  readonly #byKey = new Map<string, Stored>();
  readonly #byUid = new Map<string, Stored>();

  set(key: string, object: Stored): void {
    this.delete(key);
    this.#byKey.set(key, object);
    this.#byUid.set(uidOf(object), object);
  }

  delete(key: string): Stored | undefined {
    const before = this.#byKey.get(key);
    if (before === undefined) return undefined;
    this.#byKey.delete(key);
    this.#byUid.delete(uidOf(before));
    return before;
  }

  get(key: string): Stored | undefined {
    return this.#byKey.get(key);
  }

  withUid(uid: string): Stored | undefined {
    return this.#byUid.get(uid);
  }

  /** Objects of a kind in the order of their keys. */
  of(kind: string): Stored[] {
    return [...this.#byKey]
      .filter(([, object]) => object.kind === kind)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
  }

  all(): Iterable<Stored> {
    return this.#byKey.values();
  }

  /** Objects of a kind whose controller this is. */
  controlledBy(owner: KubeObject, kind: string): Stored[] {
    const uid = uidOf(owner);
    return this.of(kind).filter((object) => controllerOf(object)?.uid === uid);
  }
}
