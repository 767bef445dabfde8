import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { NONE, quantityText, UNKNOWN, UNSET } from '../cells/cell-text.ts';
import { at, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

/** HorizontalPodAutoscaler: v2, and v1 with its single target. */

export const horizontalPodAutoscalerColumns: readonly PrinterColumn[] = autoscalerColumns(targetsCell);
export const horizontalPodAutoscalerV1Columns: readonly PrinterColumn[] = autoscalerColumns(cpuTargetCell);

function autoscalerColumns(targets: (autoscaler: KubeObject) => string): readonly PrinterColumn[] {
  return [
    nameColumn(),
    column(
      'Reference',
      'What is scaled.',
      (autoscaler) =>
        `${textAt(autoscaler, 'spec', 'scaleTargetRef', 'kind')}/${textAt(autoscaler, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    column('Targets', 'Present and wanted value of each metric.', targets),
    column('MinPods', 'Fewest replicas.', (autoscaler) =>
      isSet(autoscaler, 'spec', 'minReplicas') ? String(numberAt(autoscaler, 'spec', 'minReplicas')) : UNSET,
    ),
    column('MaxPods', 'Most replicas.', (autoscaler) => numberAt(autoscaler, 'spec', 'maxReplicas')),
    column('Replicas', 'Replicas at the last look.', (autoscaler) => numberAt(autoscaler, 'status', 'currentReplicas')),
    ageColumn,
  ];
}

const SHOWN_METRICS = 2;

function targetsCell(autoscaler: KubeObject): string {
  const statuses = listAt(autoscaler, 'status', 'currentMetrics');
  const metrics = listAt(autoscaler, 'spec', 'metrics').map((spec, index) => metricText(spec, statuses[index]));
  if (metrics.length === 0) return NONE;
  const shown = metrics.slice(0, SHOWN_METRICS).join(', ');
  return metrics.length > SHOWN_METRICS ? `${shown} + ${metrics.length - SHOWN_METRICS} more...` : shown;
}

/** v1 keeps its only metric, CPU utilization, in two fields. */
function cpuTargetCell(autoscaler: KubeObject): string {
  if (!isSet(autoscaler, 'spec', 'targetCPUUtilizationPercentage')) return NONE;
  const current = isSet(autoscaler, 'status', 'currentCPUUtilizationPercentage')
    ? `${numberAt(autoscaler, 'status', 'currentCPUUtilizationPercentage')}%`
    : UNKNOWN;
  return `cpu: ${current}/${numberAt(autoscaler, 'spec', 'targetCPUUtilizationPercentage')}%`;
}

function metricText(spec: unknown, status: unknown): string {
  switch (textAt(spec, 'type')) {
    case 'External':
      return averageOrValue(at(spec, 'external'), at(status, 'external'));
    case 'Object':
      return averageOrValue(at(spec, 'object'), at(status, 'object'));
    case 'Pods':
      return `${currentQuantity(at(status, 'pods'), 'averageValue')}/${quantityText(at(spec, 'pods', 'target', 'averageValue'))}`;
    case 'Resource':
      return resourceText(at(spec, 'resource'), at(status, 'resource'));
    case 'ContainerResource':
      return resourceText(at(spec, 'containerResource'), at(status, 'containerResource'));
    default:
      return '<unknown type>';
  }
}

function averageOrValue(source: unknown, status: unknown): string {
  const average = at(source, 'target', 'averageValue');
  if (!isSet(average)) return `${currentQuantity(status, 'value')}/${quantityText(at(source, 'target', 'value'))}`;
  const current = at(status, 'current', 'averageValue');
  return `${isSet(current) ? quantityText(current) : UNKNOWN}/${quantityText(average)} (avg)`;
}

function resourceText(source: unknown, status: unknown): string {
  const name = textAt(source, 'name');
  const average = at(source, 'target', 'averageValue');
  if (isSet(average)) return `${name}: ${currentQuantity(status, 'averageValue')}/${quantityText(average)}`;
  const current = at(status, 'current', 'averageUtilization');
  const target = at(source, 'target', 'averageUtilization');
  return `${name}: ${isSet(current) ? `${String(current)}%` : UNKNOWN}/${isSet(target) ? `${String(target)}%` : '<auto>'}`;
}

function currentQuantity(status: unknown, field: string): string {
  return isSet(status) ? quantityText(at(status, 'current', field)) : UNKNOWN;
}
