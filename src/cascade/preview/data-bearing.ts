import type { DataBearing, PlannedObject } from '../documents/cascade-plan.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** Kinds whose objects hold data, the most serious loss first (CAS-014). A definition counts in any version. */
const RANKS: ReadonlyMap<string, { readonly rank: number; readonly apiVersion?: string }> = new Map([
  ['PersistentVolumeClaim', { rank: 0, apiVersion: 'v1' }],
  ['PersistentVolume', { rank: 1, apiVersion: 'v1' }],
  ['Secret', { rank: 2, apiVersion: 'v1' }],
  ['CustomResourceDefinition', { rank: 3 }],
  ['Namespace', { rank: 4, apiVersion: 'v1' }],
]);

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
  const bearing = objects.filter((object) => rankOf(object.ref) >= 0 && goes(object));
  const deletedVolumes = new Set(bearing.filter(({ ref }) => rankOf(ref) === 1).map(({ ref }) => ref.name));
  return bearing
    .toSorted((a, b) => rankOf(a.ref) - rankOf(b.ref))
    .map((object) => describe(snapshot, object, { objects, deletedVolumes }));
}

function goes({ outcome }: PlannedObject): boolean {
  return outcome === 'deleted' || outcome === 'waits' || outcome === 'unknown';
}

function rankOf({ apiVersion, kind }: PlannedObject['ref']): number {
  const found = RANKS.get(kind);
  if (found === undefined) return -1;
  return found.apiVersion === undefined || found.apiVersion === apiVersion ? found.rank : -1;
}

function describe(
  snapshot: Snapshot,
  { ref, outcome }: PlannedObject,
  {
    objects,
    deletedVolumes,
  }: { readonly objects: readonly PlannedObject[]; readonly deletedVolumes: ReadonlySet<string> },
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
      const prefix = `${group.join('.')}/`;
      const count = countOf(
        objects,
        ({ resource, apiVersion }) => resource === plural && apiVersion.startsWith(prefix),
      );
      return { ref, outcome, message: `all objects of its kind go with it: ${count}` };
    }
    case 'Namespace': {
      const count = countOf(objects, ({ namespace }) => namespace === ref.name);
      return { ref, outcome, message: `everything in it goes: ${count} ${count === 1 ? 'object' : 'objects'}` };
    }
    default:
      return { ref, outcome, message: 'its data are lost' };
  }
}

/** Counts in place, because a list of them may be as long as the plan. */
function countOf(objects: readonly PlannedObject[], matches: (ref: PlannedObject['ref']) => boolean): number {
  let count = 0;
  for (const object of objects) if (goes(object) && matches(object.ref)) count++;
  return count;
}
