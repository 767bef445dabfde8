import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, setIfUnset } from '../fields/defaults-fields.ts';

const PERIOD_SECONDS = 15;
/** The target CPU utilization, in percent of the request, of an autoscaler without metrics. */
const CPU_UTILIZATION = 80;

function scaleUpRules(): Fields {
  return {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: PERIOD_SECONDS },
      { type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS },
    ],
  };
}

/** Sets no stabilization window, because its default is a setting of the controller. */
function scaleDownRules(): Fields {
  return { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: PERIOD_SECONDS }] };
}

export function defaultAutoscalerV1(autoscaler: Fields): void {
  setIfUnset(ensureObjectAt(autoscaler, 'spec'), 'minReplicas', 1);
}

export function defaultAutoscalerV2(autoscaler: Fields): void {
  const spec = ensureObjectAt(autoscaler, 'spec');
  setIfUnset(spec, 'minReplicas', 1);
  const { metrics } = spec;
  if (!Array.isArray(metrics) || metrics.length === 0) spec['metrics'] = [defaultMetric()];
  const behavior = objectAt(spec, 'behavior');
  if (behavior === undefined) return;
  const rules = { scaleUp: scaleUpRules(), scaleDown: scaleDownRules() };
  for (const [direction, defaults] of Object.entries(rules)) {
    const given = ensureObjectAt(behavior, direction);
    for (const [field, value] of Object.entries(defaults)) setIfUnset(given, field, value);
  }
}

export function defaultMetric(): Fields {
  return {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_UTILIZATION } },
  };
}
