import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { humanDuration } from '../../../api/meta/duration.ts';
import { containerImages, containerNames, labelsText, NONE } from '../cells/cell-text.ts';
import { isConditionTrue, listAt, mapAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../cells/printer-column.ts';
import { summarizePod } from './pod-summary.ts';

export const podColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Ready', 'Ready containers out of all that should run.', (pod) => {
    const { ready, total } = summarizePod(pod);
    return `${ready}/${total}`;
  }),
  column('Status', 'Phase of the pod, or the most important reason of a container.', (pod) => summarizePod(pod).reason),
  column('Restarts', 'How often containers were restarted, and when last.', restartsCell),
  ageColumn,
  wideColumn('IP', 'First address of the pod.', (pod) => textAt(pod, 'status', 'podIPs', 0, 'ip') || NONE),
  wideColumn('Node', 'Node the pod is bound to.', (pod) => textAt(pod, 'spec', 'nodeName') || NONE),
  wideColumn(
    'Nominated Node',
    'Node being cleared for the pod by preemption.',
    (pod) => textAt(pod, 'status', 'nominatedNodeName') || NONE,
  ),
  wideColumn('Readiness Gates', 'Fulfilled readiness gates out of all.', readinessGatesCell),
];

export const podTemplateColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Containers', 'Names of the containers in the template.', (template) =>
    containerNames(listAt(template, 'template', 'spec', 'containers')),
  ),
  column('Images', 'Images of the containers in the template.', (template) =>
    containerImages(listAt(template, 'template', 'spec', 'containers')),
  ),
  column('Pod Labels', 'Labels the template gives its pods.', (template) =>
    labelsText(mapAt(template, 'template', 'metadata', 'labels')),
  ),
];

function restartsCell(pod: KubeObject, now: number): string {
  const { restarts, lastRestart } = summarizePod(pod);
  return restarts === 0 || lastRestart === undefined
    ? String(restarts)
    : `${restarts} (${humanDuration(now - lastRestart)} ago)`;
}

function readinessGatesCell(pod: KubeObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return NONE;
  const conditions = listAt(pod, 'status', 'conditions');
  const fulfilled = gates.filter((gate) => isConditionTrue(conditions, textAt(gate, 'conditionType')));
  return `${fulfilled.length}/${gates.length}`;
}
