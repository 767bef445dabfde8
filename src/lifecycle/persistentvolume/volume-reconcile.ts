import type { EventType } from '../../client/events/event-correlator.ts';
import { modesDiffer } from './match-volume.ts';
import {
  annotationOf,
  BOUND_BY_CONTROLLER,
  CONTROLLER_FINALIZER,
  IN_TREE_PREFIX,
  MIGRATED_TO,
  type PersistentVolume,
  type PersistentVolumeClaim,
  PROVISIONED_BY,
  type VolumePhase,
} from './persistent-volume.ts';

export interface VolumeEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** The state of the claim that a volume refers to. */
export type ClaimView =
  /** The volume refers to no claim with a uid. */
  | { readonly found: 'notAsked' }
  | { readonly found: 'claim'; readonly claim: PersistentVolumeClaim }
  /** The cache lacks it, or has another of its name: only a live read proves that it is gone. */
  | { readonly found: 'unsure' }
  | { readonly found: 'missing' };

type VolumeDecision =
  | { readonly verdict: 'nothing'; readonly reason: string }
  /** A live GET of the claim decides. */
  | { readonly verdict: 'readClaim'; readonly reason: 'claimNotInCache' }
  | { readonly verdict: 'update'; readonly reason: string; readonly volume: PersistentVolume }
  | {
      readonly verdict: 'setPhase';
      readonly reason: string;
      readonly phase: VolumePhase;
      readonly message?: string;
      readonly event?: VolumeEvent;
    }
  /** The storage is deleted, then the volume. */
  | {
      readonly verdict: 'deleteStorage';
      readonly reason: 'released';
      readonly plugin: DeleterChoice & { kind: 'deleter' };
    }
  /** The sync of the claim completes the binding. */
  | { readonly verdict: 'syncClaim'; readonly reason: 'bindingNotComplete'; readonly event?: VolumeEvent };

/** The plug-in that deletes the storage of a volume. */
type DeleterChoice =
  | { readonly kind: 'deleter'; readonly name: string }
  /** An external provisioner deletes it. */
  | { readonly kind: 'external' }
  | { readonly kind: 'none'; readonly message: string };

const phaseOf = ({ status }: PersistentVolume): string => status?.phase ?? 'Pending';
const policyOf = ({ spec }: PersistentVolume): string => spec?.persistentVolumeReclaimPolicy ?? 'Retain';

/**
 * The next step for a volume (LIFE-130 to LIFE-142), one write at a time: the caller carries it out and decides again, until nothing is
 * left. `deleters` are the names of the plug-ins that can delete storage here.
 */
export function decideVolume(
  volume: PersistentVolume,
  claim: ClaimView,
  deleters: ReadonlySet<string>,
): VolumeDecision {
  const finalizer = decideFinalizer(volume);
  if (finalizer !== undefined) return finalizer;
  const ref = volume.spec?.claimRef;
  if (ref === null || ref === undefined) return phase(volume, 'Available', 'unclaimed');
  if ((ref.uid ?? '') === '') return phase(volume, 'Available', 'reserved');
  if (claim.found === 'unsure') {
    // A volume that is Released or Failed was already proven to have no claim.
    if (isReleasedOrFailed(volume)) return reclaim(volume, deleters);
    return { verdict: 'readClaim', reason: 'claimNotInCache' };
  }
  if (claim.found !== 'claim' || claim.claim.metadata?.uid !== ref.uid) {
    return isReleasedOrFailed(volume) ? reclaim(volume, deleters) : phase(volume, 'Released', 'claimGone');
  }
  const bound = claim.claim.spec?.volumeName ?? '';
  if (bound === '') {
    if (!modesDiffer(volume, claim.claim)) return { verdict: 'syncClaim', reason: 'bindingNotComplete' };
    const message = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${ref.name ?? ''}" due to incompatible volumeMode.`;
    return {
      verdict: 'syncClaim',
      reason: 'bindingNotComplete',
      event: { type: 'Warning', reason: 'VolumeMismatch', message },
    };
  }
  if (bound === volume.metadata?.name) return phase(volume, 'Bound', 'bound');
  // The claim has another volume.
  if (annotationOf(volume, PROVISIONED_BY) !== undefined && policyOf(volume) === 'Delete') {
    return isReleasedOrFailed(volume) ? reclaim(volume, deleters) : phase(volume, 'Released', 'claimBoundElsewhere');
  }
  return { verdict: 'update', reason: 'claimBoundElsewhere', volume: withoutClaim(volume) };
}

/** True if a volume that was just read may lose its storage: its claim is gone, is another, or has another volume (LIFE-136). */
export function isStillReleased(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): boolean {
  const ref = volume.spec?.claimRef;
  if (ref === null || ref === undefined || (ref.uid ?? '') === '') return false;
  if (claim === undefined || claim.metadata?.uid !== ref.uid) return true;
  const bound = claim.spec?.volumeName ?? '';
  return bound !== '' && bound !== volume.metadata?.name;
}

/** The finalizer of volumes from kube-controller-manager's own plug-ins while their policy is Delete (LIFE-142). */
function decideFinalizer(volume: PersistentVolume): VolumeDecision | undefined {
  const provisioner = annotationOf(volume, PROVISIONED_BY);
  if (provisioner === undefined || !provisioner.startsWith(IN_TREE_PREFIX)) return undefined;
  if (annotationOf(volume, MIGRATED_TO) !== undefined) return undefined;
  const { finalizers = [], deletionTimestamp } = volume.metadata ?? {};
  const has = finalizers.includes(CONTROLLER_FINALIZER);
  const wanted = policyOf(volume) === 'Delete';
  if (wanted && !has && !deletionTimestamp) {
    return {
      verdict: 'update',
      reason: 'needsFinalizer',
      volume: withFinalizers(volume, [...finalizers, CONTROLLER_FINALIZER]),
    };
  }
  return !wanted && has
    ? { verdict: 'update', reason: 'policyIsNotDelete', volume: withoutFinalizer(volume) }
    : undefined;
}

export function withoutFinalizer(volume: PersistentVolume): PersistentVolume {
  return withFinalizers(
    volume,
    (volume.metadata?.finalizers ?? []).filter((name) => name !== CONTROLLER_FINALIZER),
  );
}

function withFinalizers(volume: PersistentVolume, finalizers: readonly string[]): PersistentVolume {
  return { ...volume, metadata: { ...volume.metadata, finalizers: [...finalizers] } };
}

function isReleasedOrFailed(volume: PersistentVolume): boolean {
  return phaseOf(volume) === 'Released' || phaseOf(volume) === 'Failed';
}

function phase(volume: PersistentVolume, wanted: VolumePhase, reason: string): VolumeDecision {
  if (phaseOf(volume) === wanted) return { verdict: 'nothing', reason };
  return { verdict: 'setPhase', reason, phase: wanted };
}

/** Carries out the reclaim policy of a volume that is Released or Failed (LIFE-133 to LIFE-135, LIFE-141). */
function reclaim(volume: PersistentVolume, deleters: ReadonlySet<string>): VolumeDecision {
  if (annotationOf(volume, MIGRATED_TO) !== undefined) return { verdict: 'nothing', reason: 'externalProvisioner' };
  const policy = policyOf(volume);
  if (policy === 'Retain') return { verdict: 'nothing', reason: 'retained' };
  if (policy === 'Recycle') return fail(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  if (policy !== 'Delete') {
    return fail(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
  const choice = deleterOf(volume, deleters);
  if (choice.kind === 'external') return { verdict: 'nothing', reason: 'externalProvisioner' };
  if (choice.kind === 'none') return fail(volume, 'VolumeFailedDelete', choice.message);
  return { verdict: 'deleteStorage', reason: 'released', plugin: choice };
}

function fail(volume: PersistentVolume, reason: string, message: string): VolumeDecision {
  if (phaseOf(volume) === 'Failed' && volume.status?.message === message) return { verdict: 'nothing', reason };
  return { verdict: 'setPhase', reason, phase: 'Failed', message, event: { type: 'Warning', reason, message } };
}

/** The deleter of a volume, by its provisioner or its source (`findDeletablePlugin`). */
function deleterOf(volume: PersistentVolume, deleters: ReadonlySet<string>): DeleterChoice {
  const provisioner = annotationOf(volume, PROVISIONED_BY);
  if (provisioner !== undefined) {
    if (deleters.has(provisioner)) return { kind: 'deleter', name: provisioner };
    if (!provisioner.startsWith(IN_TREE_PREFIX)) return { kind: 'external' };
    return { kind: 'none', message: `no volume plugin matched name: ${provisioner}` };
  }
  if (volume.spec?.csi !== undefined) return { kind: 'external' };
  const source = volume.spec?.hostPath === undefined ? undefined : 'kubernetes.io/host-path';
  if (source !== undefined && deleters.has(source)) return { kind: 'deleter', name: source };
  const name = volume.metadata?.name ?? '';
  return {
    kind: 'none',
    message: `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`,
  };
}

/** Makes it available: a reference that the controller set is removed; one that a person set keeps its name (LIFE-140). */
function withoutClaim(volume: PersistentVolume): PersistentVolume {
  const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = volume.metadata?.annotations ?? {};
  if (byController === undefined) {
    const { uid: _, resourceVersion: __, ...ref } = volume.spec?.claimRef ?? {};
    return { ...volume, spec: { ...volume.spec, claimRef: ref } };
  }
  const { claimRef: _, ...spec } = volume.spec ?? {};
  return { ...volume, metadata: { ...volume.metadata, annotations }, spec };
}
