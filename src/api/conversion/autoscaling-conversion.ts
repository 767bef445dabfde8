import { DecodePosition, DecodeProblem } from '../schema/decoding/decode-problem.ts';
import { defaultMetric } from '../schema/defaults/defaults-autoscaling.ts';
import { decodeStruct } from '../schema/decoding/struct-decoder.ts';
import { parseAnnotation, parseBehavior, printBehavior } from './autoscaling-behavior.ts';
import { cpuUtilization, flattenMetric, isCpuUtilization, unflattenMetric } from './autoscaling-metrics.ts';

type Fields = Record<string, unknown>;

/** Annotations for values that have no field in `autoscaling/v1` (upstream `pkg/apis/autoscaling/annotations.go`). */
const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
const ROUND_TRIP = [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR];

function fieldsAt(object: Fields | undefined, name: string): Fields | undefined {
  const value = object?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function listIn(value: unknown): Fields[] | undefined {
  return Array.isArray(value)
    ? value.filter((item): item is Fields => typeof item === 'object' && item !== null)
    : undefined;
}

/** Replaces the round-trip annotations in the object's metadata; every other annotation stays. */
function withAnnotations(object: Fields, annotations: Fields): Fields {
  const kept = { ...fieldsAt(fieldsAt(object, 'metadata'), 'annotations') };
  for (const name of ROUND_TRIP) delete kept[name];
  return { ...fieldsAt(object, 'metadata'), annotations: { ...kept, ...annotations } };
}

function without(object: Fields | undefined, ...names: string[]): Fields {
  return Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => !names.includes(name)));
}

/** The first CPU utilization becomes the target; all other metrics, statuses, conditions and behavior go to annotations. */
export function autoscalerV2ToV1(object: Fields): Fields {
  const spec = fieldsAt(object, 'spec');
  const status = fieldsAt(object, 'status');
  const metrics = listIn(spec?.['metrics']) ?? [];
  const currentMetrics = listIn(status?.['currentMetrics']) ?? [];
  const conditions = listIn(status?.['conditions']) ?? [];
  const behavior = fieldsAt(spec, 'behavior');

  const annotations: Fields = {};
  const others = metrics.filter((metric) => !isCpuUtilization(metric, 'target'));
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others.map((metric) => flattenMetric(metric, 'target')));
  if (currentMetrics.length > 0) {
    annotations[CURRENT_METRICS] = JSON.stringify(currentMetrics.map((metric) => flattenMetric(metric, 'current')));
  }
  if (behavior !== undefined) annotations[BEHAVIOR] = printBehavior(behavior);
  if (conditions.length > 0) annotations[CONDITIONS] = JSON.stringify(conditions);

  const target = metrics.map((metric) => cpuUtilization(metric, 'target')).find((value) => value !== undefined);
  const current = currentMetrics.map((metric) => cpuUtilization(metric, 'current')).findLast((v) => v !== undefined);
  return {
    ...object,
    metadata: withAnnotations(object, annotations),
    spec: {
      ...without(spec, 'metrics', 'behavior'),
      ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }),
    },
    status: {
      ...without(status, 'currentMetrics', 'conditions'),
      ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }),
    },
  };
}

/** Converts back. Unreadable annotations are dropped, as upstream does. */
export function autoscalerV1ToV2(object: Fields): Fields {
  const annotations = fieldsAt(fieldsAt(object, 'metadata'), 'annotations') ?? {};
  const annotation = (name: string): Fields[] | undefined => {
    const text = annotations[name];
    return typeof text === 'string' ? listIn(parseAnnotation(text)) : undefined;
  };
  const otherMetrics = annotation(METRICS)?.map((metric) => unflattenMetric(metric, 'target'));
  const currentMetrics = annotation(CURRENT_METRICS)?.map((metric) => unflattenMetric(metric, 'current'));
  const spec = fieldsAt(object, 'spec');
  const status = fieldsAt(object, 'status');
  const behaviorText = annotations[BEHAVIOR];
  const behaviors = typeof behaviorText === 'string' ? [parseBehavior(behaviorText) ?? {}] : undefined;
  const [behavior] = readable(behaviors, 'HorizontalPodAutoscalerBehavior') ?? [];
  const conditions = readable(annotation(CONDITIONS), 'HorizontalPodAutoscalerCondition');
  return {
    ...object,
    metadata: withAnnotations(object, {}),
    spec: {
      ...without(spec, 'targetCPUUtilizationPercentage'),
      metrics: metricsOf(readable(otherMetrics, 'MetricSpec') ?? [], spec?.['targetCPUUtilizationPercentage']),
      ...(behavior === undefined || Object.keys(behavior).length === 0 ? {} : { behavior }),
    },
    status: {
      ...without(status, 'currentCPUUtilizationPercentage'),
      currentMetrics: currentMetricsOf(
        readable(currentMetrics, 'MetricStatus'),
        status?.['currentCPUUtilizationPercentage'],
      ),
      ...(conditions === undefined ? {} : { conditions }),
    },
  };
}

/** The items if all of them fit the type; otherwise none, as if the annotation were absent. */
function readable(items: readonly Fields[] | undefined, type: string): readonly Fields[] | undefined {
  const decoding = { position: new DecodePosition(type), sawUnknownField: false };
  try {
    return items?.map((item) => decodeStruct(`api/autoscaling/v2.${type}`, item, decoding));
  } catch (error) {
    if (error instanceof DecodeProblem) return undefined;
    throw error;
  }
}

/** `autoscaling/v1` without any metric means 80 % CPU, which `autoscaling/v2` states explicitly. */
function metricsOf(others: readonly Fields[], utilization: unknown): Fields[] {
  const metrics = [...others];
  if (utilization !== undefined && utilization !== null) metrics.push(cpuMetric('target', utilization));
  return metrics.length === 0 ? [defaultMetric()] : metrics;
}

/** The annotation holds more than the field, so it wins. */
function currentMetricsOf(annotated: readonly Fields[] | undefined, utilization: unknown): Fields[] | null {
  if (annotated !== undefined) return [...annotated];
  return utilization === undefined || utilization === null ? null : [cpuMetric('current', utilization)];
}

function cpuMetric(part: 'target' | 'current', averageUtilization: unknown): Fields {
  const value = part === 'target' ? { type: 'Utilization', averageUtilization } : { averageUtilization };
  return { type: 'Resource', resource: { name: 'cpu', [part]: value } };
}
