import type { DataBearing, PlannedObject } from '../documents/cascade-plan.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** Kinds whose objects hold data, the most serious loss first (CAS-014). */
const RANKS: readonly string[] = [
  'v1/PersistentVolumeClaim',
  'v1/PersistentVolume',
  'v1/Secret',
  'CustomResourceDefinition',
  'v1/Namespace',
];

interface ClaimBody {
  readonly volumeName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

interface VolumeBody {
  readonly capacity?: { readonly storage?: string };
  readonly persistentVolumeReclaimPolicy?: string;
}

/** The objects of a plan whose deletion loses data, with sizes and reclaim policies if they were read. */
export function dataBearing(snapshot: Snapshot, objects: readonly PlannedObject[]): DataBearing[] {
  const goes = objects.filter(({ outcome }) => outcome === 'deleted' || outcome === 'waits' || outcome === 'unknown');
  const deletedVolumes = new Set(goes.filter(({ ref }) => rankOf(ref) === 1).map(({ ref }) => ref.name));
  return goes
    .filter(({ ref }) => rankOf(ref) >= 0)
    .toSorted((a, b) => rankOf(a.ref) - rankOf(b.ref))
    .map((object) => describe(snapshot, object, { goes, deletedVolumes }));
}

function rankOf({ apiVersion, kind }: PlannedObject['ref']): number {
  return RANKS.indexOf(kind === 'CustomResourceDefinition' ? kind : `${apiVersion}/${kind}`);
}

function describe(
  snapshot: Snapshot,
  { ref, outcome }: PlannedObject,
  { goes, deletedVolumes }: { readonly goes: readonly PlannedObject[]; readonly deletedVolumes: ReadonlySet<string> },
): DataBearing {
  const spec = snapshot.body(ref.uid)?.['spec'];
  switch (ref.kind) {
    case 'PersistentVolumeClaim': {
      const { volumeName, resources } = (spec ?? {}) as ClaimBody;
      const size = resources?.requests?.storage;
      const fields = {
        ...(size === undefined ? {} : { size }),
        ...(volumeName === undefined ? {} : { volume: volumeName }),
      };
      if (volumeName === undefined) return { ref, outcome, ...fields, message: 'no volume is bound to it' };
      const message = deletedVolumes.has(volumeName)
        ? `volume ${volumeName} is deleted with it (reclaim policy Delete)`
        : `volume ${volumeName} stays`;
      return { ref, outcome, ...fields, message };
    }
    case 'PersistentVolume': {
      const { capacity, persistentVolumeReclaimPolicy: reclaimPolicy } = (spec ?? {}) as VolumeBody;
      return {
        ref,
        outcome,
        ...(capacity?.storage === undefined ? {} : { size: capacity.storage }),
        ...(reclaimPolicy === undefined ? {} : { reclaimPolicy }),
        message:
          reclaimPolicy === 'Delete'
            ? 'the storage behind it is deleted'
            : 'the storage behind it is not deleted by Kubernetes',
      };
    }
    case 'CustomResourceDefinition': {
      const [plural, ...group] = ref.name.split('.');
      const count = goes.filter(
        (each) => each.ref.resource === plural && each.ref.apiVersion.startsWith(`${group.join('.')}/`),
      ).length;
      return { ref, outcome, message: `all objects of its kind go with it: ${count}` };
    }
    case 'Namespace': {
      const count = goes.filter((each) => each.ref.namespace === ref.name).length;
      return { ref, outcome, message: `everything in it goes: ${count} ${count === 1 ? 'object' : 'objects'}` };
    }
    default:
      return { ref, outcome, message: 'its data are lost' };
  }
}
