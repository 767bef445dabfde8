import { findVolume, mismatchOf } from './match-volume.ts';
import {
  annotationOf,
  BETA_STORAGE_PROVISIONER,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  classOfClaim,
  defaultClass,
  IN_TREE_PREFIX,
  type PersistentVolume,
  type PersistentVolumeClaim,
  refersTo,
  SELECTED_NODE,
  type StorageClass,
  STORAGE_PROVISIONER,
} from './persistent-volume.ts';
import type { VolumeEvent } from './volume-reconcile.ts';

interface ClaimFacts {
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
}

type ClaimDecision =
  | { readonly verdict: 'nothing'; readonly reason: string; readonly event?: VolumeEvent }
  | {
      readonly verdict: 'updateClaim';
      readonly reason: string;
      readonly claim: PersistentVolumeClaim;
      readonly event?: VolumeEvent;
    }
  | { readonly verdict: 'updateVolume'; readonly reason: string; readonly volume: PersistentVolume }
  | { readonly verdict: 'setVolumeBound'; readonly reason: 'reserved'; readonly volume: PersistentVolume }
  | {
      readonly verdict: 'setClaimStatus';
      readonly reason: string;
      readonly status: NonNullable<PersistentVolumeClaim['status']>;
      readonly event?: VolumeEvent;
    };

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** The next step for a claim (LIFE-143, LIFE-158), one write at a time, like {@link import('./volume-reconcile.ts').decideVolume}. */
export function decideClaim(claim: PersistentVolumeClaim, facts: ClaimFacts): ClaimDecision {
  return annotationOf(claim, BIND_COMPLETED) === undefined ? decideUnbound(claim, facts) : decideBound(claim, facts);
}

function decideUnbound(claim: PersistentVolumeClaim, { volumes, classes }: ClaimFacts): ClaimDecision {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName !== '') {
    const volume = volumes.find(({ metadata }) => metadata?.name === volumeName);
    if (volume === undefined) return pending(claim, 'volumeMissing');
    const ref = volume.spec?.claimRef ?? undefined;
    if (ref === undefined) {
      const mismatch = mismatchOf(volume, claim);
      if (mismatch === undefined) return bind(claim, volume);
      const message = `Cannot bind to requested volume "${volumeName}": ${MISMATCHES[mismatch]}`;
      return pending(claim, 'volumeMismatch', { type: 'Warning', reason: 'VolumeMismatch', message });
    }
    if (refersTo(ref, claim)) return bind(claim, volume);
    const message = `volume "${volumeName}" already bound to a different claim.`;
    return pending(claim, 'boundToAnother', { type: 'Warning', reason: 'FailedBinding', message });
  }
  const className = classOfClaim(claim);
  if (className === undefined) {
    const chosen = defaultClass(classes)?.metadata?.name;
    if (chosen !== undefined) {
      const spec = { ...claim.spec, storageClassName: chosen };
      return { verdict: 'updateClaim', reason: 'defaultClass', claim: { ...claim, spec } };
    }
  }
  const storageClass = classes.find(({ metadata }) => metadata?.name === className);
  const waitsForNode =
    storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && annotationOf(claim, SELECTED_NODE) === undefined;
  const volume = findVolume(claim, volumes, { waitsForNode });
  if (volume !== undefined) return bind(claim, volume);
  if (waitsForNode) {
    const message = 'waiting for first consumer to be created before binding';
    return pending(claim, 'waitsForNode', { type: 'Normal', reason: 'WaitForFirstConsumer', message });
  }
  if ((className ?? '') === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    return pending(claim, 'noVolume', { type: 'Normal', reason: 'FailedBinding', message });
  }
  return provision(claim, className ?? '', storageClass);
}

const MISMATCHES = {
  volumeMode: 'incompatible volumeMode',
  size: 'requested PV is too small',
  class: 'storageClassName does not match',
  accessModes: 'incompatible accessMode',
  attributesClass: 'VolumeAttributesClassName does not match',
} as const;

/** Requests a volume from an external provisioner, by annotation; kubegc provisions nothing itself. */
function provision(
  claim: PersistentVolumeClaim,
  className: string,
  storageClass: StorageClass | undefined,
): ClaimDecision {
  if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io "${className}" not found`;
    return pending(claim, 'classMissing', { type: 'Warning', reason: 'ProvisioningFailed', message });
  }
  const { provisioner = '' } = storageClass;
  if (provisioner === NO_PROVISIONER) {
    const message = 'no persistent volumes available for this claim and the storage class has no provisioner';
    return pending(claim, 'noProvisioner', { type: 'Normal', reason: 'FailedBinding', message });
  }
  if (provisioner.startsWith(IN_TREE_PREFIX)) {
    const message = `no volume plugin matched name: ${provisioner}`;
    return pending(claim, 'noPlugin', { type: 'Warning', reason: 'ProvisioningFailed', message });
  }
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  const event: VolumeEvent = { type: 'Normal', reason: 'ExternalProvisioning', message };
  if (annotationOf(claim, STORAGE_PROVISIONER) !== provisioner) {
    const annotations = { [BETA_STORAGE_PROVISIONER]: provisioner, [STORAGE_PROVISIONER]: provisioner };
    return { verdict: 'updateClaim', reason: 'externalProvisioner', claim: annotated(claim, annotations) };
  }
  return pending(claim, 'externalProvisioner', event);
}

function decideBound(claim: PersistentVolumeClaim, { volumes }: ClaimFacts): ClaimDecision {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName === '') {
    return lost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  }
  const volume = volumes.find(({ metadata }) => metadata?.name === volumeName);
  if (volume === undefined) {
    return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const ref = volume.spec?.claimRef ?? undefined;
  if (ref === undefined || refersTo(ref, claim)) return bind(claim, volume);
  return lost(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

/** The four writes of a binding, each only if it is still missing: reference, volume's phase, claim, claim's status. */
function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): ClaimDecision {
  const { namespace, name, uid, resourceVersion } = claim.metadata ?? {};
  const ref = volume.spec?.claimRef ?? undefined;
  if (ref === undefined || (ref.uid ?? '') === '') {
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
    const spec = { ...volume.spec, claimRef: claimRef as NonNullable<typeof ref> };
    const bound = ref === undefined ? annotated(volume, { [BOUND_BY_CONTROLLER]: 'yes' }) : volume;
    return { verdict: 'updateVolume', reason: 'bind', volume: { ...bound, spec } };
  }
  if (volume.status?.phase !== 'Bound') return { verdict: 'setVolumeBound', reason: 'reserved', volume };
  const byController = (claim.spec?.volumeName ?? '') === '';
  if (byController || annotationOf(claim, BIND_COMPLETED) === undefined) {
    const complete = annotated(claim, {
      ...(byController ? { [BOUND_BY_CONTROLLER]: 'yes' } : {}),
      [BIND_COMPLETED]: 'yes',
    });
    const spec = { ...claim.spec, volumeName: volume.metadata?.name ?? '' };
    return { verdict: 'updateClaim', reason: 'bind', claim: { ...complete, spec } };
  }
  if (claim.status?.phase === 'Bound') return { verdict: 'nothing', reason: 'bound' };
  const { accessModes = [], capacity = {} } = volume.spec ?? {};
  return {
    verdict: 'setClaimStatus',
    reason: 'bind',
    status: { ...claim.status, phase: 'Bound', accessModes, capacity },
  };
}

function pending(claim: PersistentVolumeClaim, reason: string, event?: VolumeEvent): ClaimDecision {
  const about = event === undefined ? {} : { event };
  if (claim.status?.phase === 'Pending') return { verdict: 'nothing', reason, ...about };
  return { verdict: 'setClaimStatus', reason, status: { phase: 'Pending' }, ...about };
}

function lost(claim: PersistentVolumeClaim, reason: string, message: string): ClaimDecision {
  if (claim.status?.phase === 'Lost') return { verdict: 'nothing', reason };
  const event: VolumeEvent = { type: 'Warning', reason, message };
  return { verdict: 'setClaimStatus', reason, status: { phase: 'Lost' }, event };
}

function annotated<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  more: Readonly<Record<string, string>>,
): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata?.annotations, ...more } } };
}
