import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';

export const VOLUMES: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumes' };
export const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
export const CLASSES: GroupVersionResource = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };

export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
export const MIGRATED_TO = 'pv.kubernetes.io/migrated-to';
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const BETA_STORAGE_PROVISIONER = 'volume.beta.kubernetes.io/storage-provisioner';
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
/** This finalizer keeps a volume object until kubegc has deleted its storage. */
export const CONTROLLER_FINALIZER = 'kubernetes.io/pv-controller';
/** The prefix of provisioners inside kube-controller-manager; all others are external. */
export const IN_TREE_PREFIX = 'kubernetes.io/';

interface ClaimRef {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export type VolumePhase = 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed';

export interface PersistentVolume extends KubeObject {
  spec?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly accessModes?: readonly string[];
    readonly claimRef?: ClaimRef | null;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeAttributesClassName?: string | null;
    readonly csi?: unknown;
    readonly hostPath?: { readonly path?: string };
    readonly [source: string]: unknown;
  };
  status?: { readonly phase?: string; readonly message?: string; readonly reason?: string };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: {
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    readonly selector?: LabelSelectorObject | null;
    readonly storageClassName?: string | null;
    readonly volumeAttributesClassName?: string | null;
    readonly volumeMode?: string;
    readonly volumeName?: string;
  };
  status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
}

export interface StorageClass extends KubeObject {
  provisioner?: string;
  volumeBindingMode?: string;
}

export const annotationOf = (object: KubeObject, name: string): string | undefined =>
  object.metadata?.annotations?.[name];

/** The class of a claim: undefined for the cluster's default, empty for none. */
export function classOfClaim(claim: PersistentVolumeClaim): string | undefined {
  return annotationOf(claim, BETA_CLASS) ?? claim.spec?.storageClassName ?? undefined;
}

export function classOfVolume(volume: PersistentVolume): string {
  return annotationOf(volume, BETA_CLASS) ?? volume.spec?.storageClassName ?? '';
}

/** The newest class that is marked as default; of equally old ones the first by name. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const created = ({ metadata }: StorageClass): string => metadata?.creationTimestamp ?? '';
  const name = ({ metadata }: StorageClass): string => metadata?.name ?? '';
  return classes
    .filter((candidate) => annotationOf(candidate, DEFAULT_CLASS) === 'true')
    .sort((a, b) => created(b).localeCompare(created(a)) || name(a).localeCompare(name(b)))[0];
}

/** True if a volume's reference names this claim: by uid, or by name while the uid is empty. */
export function refersTo(ref: ClaimRef | null | undefined, claim: PersistentVolumeClaim): boolean {
  const { namespace, name, uid } = claim.metadata ?? {};
  if (ref === null || ref === undefined || ref.namespace !== namespace || ref.name !== name) return false;
  return (ref.uid ?? '') === '' || ref.uid === uid;
}
