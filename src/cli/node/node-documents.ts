import type { DeadPiece } from '../../nodegc/containerd/dead-content.ts';
import type { ContainerPlan } from '../../nodegc/containers/container-manager.ts';
import type { NodeConfiguration } from '../../nodegc/config/node-configuration.ts';
import type { ImagePlan } from '../../nodegc/images/image-manager.ts';
import type { DiskReading } from '../../nodegc/images/thresholds.ts';
import { decideByThreshold } from '../../nodegc/images/thresholds.ts';
import type { ImageRecord } from '../../nodegc/inventory/image-records.ts';

/** Part of every JSON output. Within a version, fields are only added. */
export const API_VERSION = 'node.kubegc/v1alpha1';

/** The first fields of every document of node collection; `schemas/` has a schema of each kind. */
export interface NodeDocument<Kind extends string> {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: Kind;
}

export interface DiskDocument {
  readonly path: string;
  readonly capacityBytes: number | null;
  readonly availableBytes: number | null;
  readonly usagePercent: number | null;
  readonly inodes: number;
  readonly inodesFree: number;
}

export interface ImageDocument {
  readonly id: string;
  readonly runtimeHandler?: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** The size that the runtime reports. */
  readonly sizeBytes: number;
  /** The bytes that its removal alone frees; null if only the runtime's size is known. */
  readonly ownBytes: number | null;
  /** The bytes that it shares with other images; null if unknown. */
  readonly sharedBytes: number | null;
  /** Null if unknown. */
  readonly firstDetected: string | null;
  readonly lastUsed: string | null;
}

/** An image that is removed. */
export interface GoingImage extends ImageDocument {
  readonly reason: string;
  /** The bytes that are freed. */
  readonly bytes: number;
  /** Whether these bytes are exact, or the size that the runtime reports. */
  readonly exact: boolean;
}

/** An image that stays. */
export interface StayingImage extends ImageDocument {
  /** The rule that keeps it. */
  readonly rule: string;
  /** One clause for a person. */
  readonly detail: string;
}

/** The output of `plan`, and of `prune` without `--confirm`. */
export interface NodePlanDocument extends NodeDocument<'NodePlan'> {
  readonly runtime: { readonly name: string; readonly version: string; readonly endpoint: string };
  readonly imageFilesystem: DiskDocument;
  readonly thresholds: { readonly highPercent: number; readonly lowPercent: number };
  readonly accounting: string;
  readonly goalBytes: number | null;
  readonly goalMet: boolean;
  readonly remove: readonly GoingImage[];
  readonly keep: readonly StayingImage[];
  readonly containers: readonly {
    readonly id: string;
    readonly name: string;
    readonly pod: string;
    readonly reason: string;
  }[];
  readonly sandboxes: readonly { readonly id: string; readonly reason: string }[];
  readonly logDirectories: readonly string[];
  readonly deadLinks: readonly string[];
  readonly findings: readonly NodeFinding[];
}

/** The output of `status`. */
export interface NodeStatusDocument extends NodeDocument<'NodeStatus'> {
  readonly runtime: NodePlanDocument['runtime'];
  /** How the kubelet of this node was found; null if there is none. */
  readonly kubelet: string | null;
  readonly imageFilesystem: DiskDocument;
  readonly thresholds: NodePlanDocument['thresholds'];
  readonly aboveThreshold: boolean;
  readonly images: readonly { readonly group: string; readonly images: number; readonly bytes: number }[];
  /** The images as a kubelet reports them in the status of its Node. */
  readonly nodeStatusImages: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  readonly findings: readonly NodeFinding[];
}

/** The output of `why`: the images that the reference means. */
export interface ImageExplanationListDocument extends NodeDocument<'ImageExplanationList'> {
  readonly items: readonly (GoingImage | StayingImage)[];
}

/** The output of `prune --confirm`. */
export interface NodePruneResultDocument extends NodeDocument<'NodePruneResult'> {
  readonly removed: readonly { readonly id: string; readonly tags: readonly string[] }[];
  readonly failed: readonly { readonly id: string; readonly message: string }[];
  /** Dead containers, sandboxes and logs that were removed with `--containers`. */
  readonly containers: readonly { readonly kind: string; readonly id: string; readonly reason: string }[];
  readonly estimatedBytes: number;
  /** By the file system; null where it could not be read. */
  readonly measuredBytes: number | null;
}

/** The output of `prune --untag-only`. */
export interface StaleTagListDocument extends NodeDocument<'StaleTagList'> {
  readonly items: readonly {
    readonly tag: string;
    readonly imageId: string;
    readonly stays: readonly string[];
    readonly removed: boolean;
  }[];
}

/** Space that no collection frees. */
export interface NodeFinding {
  readonly kind: 'StrandedImageRecord' | 'DeadSnapshot' | 'DeadBlob';
  readonly name: string;
  readonly bytes: number;
  /** The label that keeps a dead snapshot or blob; absent: containerd removes it at its next collection. */
  readonly keptBy?: string;
}

const NANOSECONDS_PER_MS = 1_000_000n;
/** RFC 3339. */
export const timeText = (nanoseconds: bigint): string =>
  new Date(Number(nanoseconds / NANOSECONDS_PER_MS)).toISOString();

export function diskDocument(path: string, disk: DiskReading | undefined): DiskDocument {
  const decided = disk && decideByThreshold(disk, { high: 0, low: 0 });
  const numberOf = (value: bigint | undefined): number | null => (value === undefined ? null : Number(value));
  return {
    path,
    capacityBytes: numberOf(disk?.capacity),
    availableBytes: numberOf(disk?.available),
    usagePercent: decided === undefined || decided.decision === 'invalidCapacity' ? null : decided.usagePercent,
    inodes: Number(disk?.inodes ?? 0n),
    inodesFree: Number(disk?.inodesFree ?? 0n),
  };
}

export function imageDocument(record: ImageRecord, shared: ImagePlan['shared']): ImageDocument {
  const { image, key } = record;
  const known = shared?.knows(key) === true;
  return {
    id: image.id,
    ...(image.runtimeHandler === '' ? {} : { runtimeHandler: image.runtimeHandler }),
    tags: image.tags,
    digests: image.digests,
    sizeBytes: Number(image.size),
    ownBytes: known ? Number(shared!.own(key)) : null,
    sharedBytes: known ? Number(shared!.shared(key)) : null,
    firstDetected: record.firstDetected === 0n ? null : timeText(record.firstDetected),
    lastUsed: record.lastUsed === undefined ? null : timeText(record.lastUsed),
  };
}

/** The reason why an unprotected image stays: the pass skipped it, or had already reached its goal. */
export function reasonsToStay(plan: ImagePlan): Map<string, { readonly rule: string; readonly detail: string }> {
  const words: Readonly<Record<string, string>> = {
    minimumAge: 'it is younger than the minimum age',
    usedMeanwhile: 'it was used during this pass',
    retryLater: 'its removal failed lately',
  };
  const stays = new Map<string, { rule: string; detail: string }>();
  const gone = new Set(plan.result.removed.map(({ record }) => record.key));
  const skipped = new Map(plan.result.skipped.map(({ record, reason }) => [record.key, reason]));
  for (const key of plan.inventory.keys()) {
    if (gone.has(key)) continue;
    const protection = plan.protections.get(key);
    const skip = skipped.get(key);
    if (protection !== undefined) stays.set(key, { rule: protection.rule, detail: protection.detail });
    else if (skip !== undefined) stays.set(key, { rule: skip, detail: words[skip] ?? skip });
    else
      stays.set(key, {
        rule: 'notNeeded',
        detail: plan.result.goal === undefined ? 'nothing has to be freed' : 'the goal is met without it',
      });
  }
  return stays;
}

export function planDocument(parts: {
  readonly runtime: NodePlanDocument['runtime'];
  readonly imagePath: string;
  readonly configuration: NodeConfiguration;
  readonly images: ImagePlan;
  readonly containers: ContainerPlan | undefined;
  readonly stranded: readonly { readonly name: string; readonly bytes: bigint }[];
  readonly dead: readonly DeadPiece[];
}): NodePlanDocument {
  const { runtime, imagePath, configuration, images, containers, stranded, dead } = parts;
  const { result, shared, inventory } = images;
  const stays = reasonsToStay(images);
  return {
    apiVersion: API_VERSION,
    kind: 'NodePlan',
    runtime,
    imageFilesystem: diskDocument(imagePath, images.disk),
    thresholds: {
      highPercent: configuration.imageGCHighThresholdPercent,
      lowPercent: configuration.imageGCLowThresholdPercent,
    },
    accounting: configuration.accounting,
    goalBytes: result.goal === undefined ? null : Number(result.goal),
    goalMet: result.outcome === 'success' || result.outcome === 'noop',
    remove: result.removed.map(({ record, reason, bytes, exact }) => ({
      ...imageDocument(record, shared),
      reason,
      bytes: Number(bytes),
      exact,
    })),
    keep: [...stays].map(([key, why]) => ({ ...imageDocument(inventory.get(key)!, shared), ...why })),
    containers: (containers?.containers ?? []).map(({ container, reason }) => ({
      id: container.id,
      name: container.name,
      pod: container.podName === '' ? container.podUid : `${container.podNamespace}/${container.podName}`,
      reason,
    })),
    sandboxes: (containers?.sandboxes ?? []).map(({ sandbox, reason }) => ({ id: sandbox.id, reason })),
    logDirectories: containers?.logDirectories ?? [],
    deadLinks: containers?.deadLinks ?? [],
    findings: [
      ...stranded.map(({ name, bytes }) => ({ kind: 'StrandedImageRecord' as const, name, bytes: Number(bytes) })),
      ...dead.map(({ kind, name, bytes, keptBy }) => ({
        kind: kind === 'blob' ? ('DeadBlob' as const) : ('DeadSnapshot' as const),
        name,
        bytes: Number(bytes),
        ...(keptBy === undefined ? {} : { keptBy }),
      })),
    ],
  };
}
