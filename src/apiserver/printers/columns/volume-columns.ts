import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { NONE, quantityText, textOr, UNSET } from '../cells/cell-text.ts';
import { at, booleanAt, isSet, listAt, mapAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import {
  ageColumn,
  booleanColumn,
  column,
  integerColumn,
  nameColumn,
  nameOf,
  wideColumn,
} from '../cells/printer-column.ts';

/** Storage: volumes, claims, classes, CSI. */

const attributesClassColumn = column('VolumeAttributesClass', 'Class of adjustable attributes.', (object) =>
  textOr(UNSET, object, 'spec', 'volumeAttributesClassName'),
);
const volumeModeColumn = wideColumn('VolumeMode', 'Filesystem or raw block device.', (object) =>
  textOr(UNSET, object, 'spec', 'volumeMode'),
);
const storageClassColumn = column('StorageClass', 'Class the volume is of.', storageClassCell);

export const persistentVolumeColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Capacity', 'Size of the volume.', (volume) => quantityText(at(volume, 'spec', 'capacity', 'storage'))),
  column('Access Modes', 'How nodes may mount the volume.', (volume) =>
    accessModes(listAt(volume, 'spec', 'accessModes')),
  ),
  column('Reclaim Policy', 'Policy for the volume when its claim is deleted.', (volume) =>
    textAt(volume, 'spec', 'persistentVolumeReclaimPolicy'),
  ),
  column('Status', 'Phase of the volume.', phaseCell),
  column('Claim', 'Namespace and name of the claim that holds the volume.', (volume) =>
    isSet(volume, 'spec', 'claimRef')
      ? `${textAt(volume, 'spec', 'claimRef', 'namespace')}/${textAt(volume, 'spec', 'claimRef', 'name')}`
      : '',
  ),
  storageClassColumn,
  attributesClassColumn,
  column('Reason', 'Why the volume is in its phase.', (volume) => textAt(volume, 'status', 'reason')),
  ageColumn,
  volumeModeColumn,
];

export const persistentVolumeClaimColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Status', 'Phase of the claim.', phaseCell),
  column('Volume', 'Volume bound to the claim.', (claim) => textAt(claim, 'spec', 'volumeName')),
  column('Capacity', 'Size of the bound volume.', (claim) =>
    isBound(claim) ? quantityText(at(claim, 'status', 'capacity', 'storage')) : '',
  ),
  column('Access Modes', 'How nodes may mount the bound volume.', (claim) =>
    isBound(claim) ? accessModes(listAt(claim, 'status', 'accessModes')) : '',
  ),
  storageClassColumn,
  attributesClassColumn,
  ageColumn,
  volumeModeColumn,
];

export const storageClassColumns: readonly PrinterColumn[] = [
  nameColumn((object) => withDefaultMark(object, DEFAULT_STORAGE_CLASS)),
  column('Provisioner', 'Provisioner that makes the volumes.', (object) => textAt(object, 'provisioner')),
  column('ReclaimPolicy', 'Policy for a volume when its claim is deleted.', (object) =>
    textOr('Delete', object, 'reclaimPolicy'),
  ),
  column('VolumeBindingMode', 'When a claim gets its volume.', (object) =>
    textOr('Immediate', object, 'volumeBindingMode'),
  ),
  column('AllowVolumeExpansion', 'Whether claims may grow.', (object) => booleanAt(object, 'allowVolumeExpansion')),
  ageColumn,
];

export const volumeAttributesClassColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('DriverName', 'CSI driver the attributes are for.', (object) => textAt(object, 'driverName')),
  ageColumn,
];

export const volumeAttachmentColumns: readonly PrinterColumn[] = [
  nameColumn(),
  {
    ...column('Attacher', 'CSI driver that attaches.', (object) => textAt(object, 'spec', 'attacher')),
    format: 'name',
  },
  column('PV', 'Volume to attach.', (object) => textAt(object, 'spec', 'source', 'persistentVolumeName')),
  column('Node', 'Node to attach to.', (object) => textAt(object, 'spec', 'nodeName')),
  booleanColumn('Attached', 'Whether the volume is attached.', (object) => booleanAt(object, 'status', 'attached')),
  ageColumn,
];

export const csiDriverColumns: readonly PrinterColumn[] = [
  nameColumn(),
  booleanColumn(
    'AttachRequired',
    'Whether volumes are attached before they are mounted.',
    (driver) => at(driver, 'spec', 'attachRequired') !== false,
  ),
  booleanColumn('PodInfoOnMount', 'Whether the driver learns which pod it mounts for.', (driver) =>
    booleanAt(driver, 'spec', 'podInfoOnMount'),
  ),
  booleanColumn('StorageCapacity', 'Whether the scheduler heeds the published capacity.', (driver) =>
    booleanAt(driver, 'spec', 'storageCapacity'),
  ),
  column('TokenRequests', 'Audiences of the tokens the driver is given.', (driver) =>
    isSet(driver, 'spec', 'tokenRequests')
      ? listAt(driver, 'spec', 'tokenRequests')
          .map((request) => textAt(request, 'audience'))
          .join(',')
      : UNSET,
  ),
  booleanColumn('RequiresRepublish', 'Whether volumes are published again from time to time.', (driver) =>
    booleanAt(driver, 'spec', 'requiresRepublish'),
  ),
  column(
    'Modes',
    'Life cycles of volume the driver knows.',
    (driver) => listAt(driver, 'spec', 'volumeLifecycleModes').map(String).join(',') || NONE,
  ),
  ageColumn,
];

export const csiNodeColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Drivers', 'CSI drivers on the node.', (node) => listAt(node, 'spec', 'drivers').length),
  ageColumn,
];

export const csiStorageCapacityColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('StorageClassName', 'Class the capacity is for.', (object) => textAt(object, 'storageClassName')),
  column('Capacity', 'What is left.', (object) =>
    isSet(object, 'capacity') ? quantityText(at(object, 'capacity')) : UNSET,
  ),
];

const DEFAULT_STORAGE_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** The name, marked if an annotation makes the class the default (API-438). */
export function withDefaultMark(object: KubeObject, annotations: readonly string[]): string {
  const isDefault = annotations.some((key) => object.metadata?.annotations?.[key] === 'true');
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}

function phaseCell(object: KubeObject): string {
  return isSet(object, 'metadata', 'deletionTimestamp') ? 'Terminating' : textAt(object, 'status', 'phase');
}

function isBound(claim: KubeObject): boolean {
  return textAt(claim, 'spec', 'volumeName') !== '';
}

/** The annotation is older than the field and still takes precedence. */
function storageClassCell(object: KubeObject): string {
  const annotated = mapAt(object, 'metadata', 'annotations')['volume.beta.kubernetes.io/storage-class'];
  return typeof annotated === 'string' ? annotated : textAt(object, 'spec', 'storageClassName');
}

const ACCESS_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly unknown[]): string {
  return ACCESS_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
