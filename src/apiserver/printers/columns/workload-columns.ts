import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { formatGroupKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import {
  containerImages,
  containerNames,
  labelsText,
  NONE,
  selectorNotation,
  selectorText,
} from '../cells/cell-text.ts';
import { at, listAt, mapAt, numberAt, int64At } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, integerColumn, nameColumn, wideColumn } from '../cells/printer-column.ts';

/** Wide columns of kinds that create pods from `spec.template`; CronJobs nest theirs deeper. */
export function templateColumns(...path: readonly string[]): PrinterColumn[] {
  return [
    wideColumn('Containers', 'Names of the containers in the pod template.', (object) =>
      containerNames(listAt(object, ...path, 'template', 'spec', 'containers')),
    ),
    wideColumn('Images', 'Images of the containers in the pod template.', (object) =>
      containerImages(listAt(object, ...path, 'template', 'spec', 'containers')),
    ),
  ];
}

export function selectorColumn(...path: readonly string[]): PrinterColumn {
  return wideColumn('Selector', 'Labels by which the pods are found.', (object) =>
    selectorText(at(object, ...path, 'selector')),
  );
}

const replicaColumns: readonly PrinterColumn[] = [
  integerColumn('Desired', 'Replicas asked for.', (object) => numberAt(object, 'spec', 'replicas')),
  integerColumn('Current', 'Replicas that exist.', (object) => numberAt(object, 'status', 'replicas')),
  integerColumn('Ready', 'Replicas that are ready.', (object) => numberAt(object, 'status', 'readyReplicas')),
];

export const replicationControllerColumns: readonly PrinterColumn[] = [
  nameColumn(),
  ...replicaColumns,
  ageColumn,
  ...templateColumns('spec'),
  wideColumn('Selector', 'Labels by which the pods are found.', (object) =>
    labelsText(mapAt(object, 'spec', 'selector')),
  ),
];

export const replicaSetColumns: readonly PrinterColumn[] = [
  nameColumn(),
  ...replicaColumns,
  ageColumn,
  ...templateColumns('spec'),
  selectorColumn('spec'),
];

export const deploymentColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Ready', 'Ready pods out of those asked for.', readyReplicasCell),
  column('Up-to-date', 'Pods that follow the present template.', (object) =>
    numberAt(object, 'status', 'updatedReplicas'),
  ),
  column('Available', 'Pods that have been ready for long enough.', (object) =>
    numberAt(object, 'status', 'availableReplicas'),
  ),
  ageColumn,
  ...templateColumns('spec'),
  wideColumn('Selector', 'Labels by which the pods are found.', (object) =>
    selectorNotation(at(object, 'spec', 'selector'), '<invalid>'),
  ),
];

export const statefulSetColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Ready', 'Ready pods out of those asked for.', readyReplicasCell),
  ageColumn,
  ...templateColumns('spec'),
];

export const daemonSetColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Desired', 'Nodes that should run the pod.', (object) =>
    numberAt(object, 'status', 'desiredNumberScheduled'),
  ),
  integerColumn('Current', 'Nodes that should run the pod and do.', (object) =>
    numberAt(object, 'status', 'currentNumberScheduled'),
  ),
  integerColumn('Ready', 'Nodes whose pod is ready.', (object) => numberAt(object, 'status', 'numberReady')),
  integerColumn('Up-to-date', 'Nodes whose pod follows the present template.', (object) =>
    numberAt(object, 'status', 'updatedNumberScheduled'),
  ),
  integerColumn('Available', 'Nodes whose pod has been ready for long enough.', (object) =>
    numberAt(object, 'status', 'numberAvailable'),
  ),
  column('Node Selector', 'Labels a node needs to run the pod.', (object) =>
    labelsText(mapAt(object, 'spec', 'template', 'spec', 'nodeSelector')),
  ),
  ageColumn,
  ...templateColumns('spec'),
  selectorColumn('spec'),
];

export const controllerRevisionColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Controller', 'Object that controls the revision.', controllerCell),
  column('Revision', 'Number of the revision.', (object) => int64At(object, 'revision')),
  ageColumn,
];

/** The columns of a Scale (subresource `scale`). Its name column has no format. */
export const scaleColumns: readonly PrinterColumn[] = [
  { ...nameColumn(), format: '' },
  integerColumn('Desired', 'Replicas asked for.', (object) => numberAt(object, 'spec', 'replicas')),
  integerColumn('Available', 'Replicas that exist.', (object) => numberAt(object, 'status', 'replicas')),
  ageColumn,
];

function readyReplicasCell(object: KubeObject): string {
  return `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`;
}

function controllerCell(object: KubeObject): string {
  const owner = object.metadata?.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return NONE;
  const { group } = parseGroupVersion(owner.apiVersion) ?? { group: '' };
  return `${formatGroupKind({ group, kind: owner.kind }).toLowerCase()}/${owner.name}`;
}
