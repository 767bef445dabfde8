import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatTime } from '../../../api/meta/time.ts';
import type { Strategy } from '../strategy.ts';

interface PersistentVolume extends KubeObject {
  status?: { phase?: string; lastPhaseTransitionTime?: string };
}

/** A new volume is unbound (API-152). The time of the last phase change is set if a client writes only the phase. */
export const persistentVolumeStrategy: Strategy = {
  prepareForCreate(volume: PersistentVolume, { now }) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) };
  },
  prepareForUpdate(next: PersistentVolume, previous: PersistentVolume, { subresource, now }) {
    if (subresource !== 'status' || next.status === undefined) return;
    const { phase, lastPhaseTransitionTime: old } = previous.status ?? {};
    const { lastPhaseTransitionTime: given } = next.status;
    if (next.status.phase !== phase) {
      if (given === undefined || given === old) {
        next.status = { ...next.status, lastPhaseTransitionTime: formatTime(now) };
      }
    } else if (given === undefined && old !== undefined) {
      next.status = { ...next.status, lastPhaseTransitionTime: old };
    }
  },
};

interface DataSource {
  readonly apiGroup?: string | null;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

interface ClaimSpec extends Record<string, unknown> {
  dataSource?: DataSource | undefined;
  dataSourceRef?: DataSource | undefined;
}

interface PersistentVolumeClaim extends KubeObject {
  spec?: ClaimSpec;
}

/** A new claim is unbound (API-152). Its data source has an older and a newer field with the same content. */
export const persistentVolumeClaimStrategy: Strategy = {
  prepareForCreate(claim: PersistentVolumeClaim) {
    claim['status'] = { phase: 'Pending' };
    if (claim.spec !== undefined) claim.spec = withBothSources(claim.spec, undefined);
  },
  prepareForUpdate(next: PersistentVolumeClaim, previous: PersistentVolumeClaim, { subresource }) {
    if (subresource === '' && next.spec !== undefined) next.spec = withBothSources(next.spec, previous.spec);
  },
};

/** api/persistentvolumeclaim `EnforceDataSourceBackwardsCompatibility`, then `NormalizeDataSources`. */
function withBothSources(spec: ClaimSpec, old: ClaimSpec | undefined): ClaimSpec {
  const { dataSource, dataSourceRef, ...rest } = spec;
  // In the older field, upstream silently drops a source that is neither a claim nor a snapshot.
  const source =
    dataSourceRef !== undefined || old?.dataSource !== undefined || isClaimOrSnapshot(dataSource)
      ? dataSource
      : undefined;
  const elsewhere = (dataSourceRef?.namespace ?? '') !== '';
  const one = source ?? (elsewhere ? undefined : dataSourceRef);
  const two = dataSourceRef ?? source;
  return {
    ...rest,
    ...(one === undefined ? {} : { dataSource: withoutNamespace(one) }),
    ...(two === undefined ? {} : { dataSourceRef: two }),
  };
}

function isClaimOrSnapshot(source: DataSource | undefined): boolean {
  const group = source?.apiGroup ?? '';
  if (source?.kind === 'PersistentVolumeClaim') return group === '';
  return source?.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}

function withoutNamespace(source: DataSource): DataSource {
  const { namespace: _, ...rest } = source;
  return rest;
}
