import type { FieldTexts } from './field-texts.ts';

const METRIC = {
  containerResource: 'CPU or memory of one container of all pods.',
  external: 'A metric from outside the cluster.',
  object: 'A metric of one object.',
  pods: 'A metric of all pods, averaged.',
  resource: 'CPU or memory of all pods.',
  type: 'Which of the others is given: Resource, ContainerResource, Pods, Object or External.',
};
const AVERAGE = {
  averageUtilization: 'Percent of what the pods request, averaged.',
  averageValue: 'Value averaged over the pods.',
  value: 'The value as it is.',
};
const NAMED = { container: 'Name of the container.', name: 'The resource, cpu or memory.' };
const TARGET = 'The target of the value.';
const CURRENT = 'The current value.';
const WHICH = 'Which metric.';

export const SCALING: FieldTexts = {
  'autoscaling.HorizontalPodAutoscalerSpec': {
    behavior: 'How fast the number may rise and fall.',
    maxReplicas: 'The most replicas.',
    metrics: 'Metrics that decide the number of replicas; the one that asks for most wins. CPU at 80 % unless set.',
    minReplicas: 'The fewest replicas; 1 unless set.',
    scaleTargetRef: 'The object to scale, such as a Deployment.',
    targetCPUUtilizationPercentage: 'CPU the pods should use on average, in percent of what they request.',
  },
  'autoscaling.HorizontalPodAutoscalerStatus': {
    conditions: 'AbleToScale, ScalingActive and ScalingLimited.',
    currentCPUUtilizationPercentage: 'CPU the pods use on average, in percent of what they request.',
    currentMetrics: 'The metrics as last read.',
    currentReplicas: 'Replicas that are there.',
    desiredReplicas: 'Replicas the autoscaler wants.',
    lastScaleTime: 'When it last changed the number.',
  },
  'autoscaling.CrossVersionObjectReference': {
    apiVersion: 'Group and version of the object, such as apps/v1.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
  },
  'autoscaling.HorizontalPodAutoscalerBehavior': {
    scaleDown: 'For fewer replicas; unless set, all at once, by the highest number wanted in 5 minutes.',
    scaleUp: 'For more replicas; unless set, double or 4 more in 15 seconds, whichever is more.',
  },
  'autoscaling.HPAScalingRules': {
    policies: 'How many at once; alternatives.',
    selectPolicy: 'Which alternative counts: Max, Min, or Disabled for no change in this direction.',
    stabilizationWindowSeconds:
      'Seconds over which earlier recommendations count, so that the number does not go to and fro.',
    tolerance: 'How far a metric may be off before anything changes; 0.1 is ten percent.',
  },
  'autoscaling.HPAScalingPolicy': {
    periodSeconds: 'Length of the period that counts, in seconds.',
    type: 'Pods or Percent.',
    value: 'By how many, or how much of them, the number may change in that time.',
  },
  'autoscaling.MetricSpec': METRIC,
  'autoscaling.MetricStatus': METRIC,
  'autoscaling.MetricTarget': { ...AVERAGE, type: 'Which of the others is given: Utilization, Value or AverageValue.' },
  'autoscaling.MetricValueStatus': AVERAGE,
  'autoscaling.MetricIdentifier': { name: 'Name of the metric.', selector: 'Labels of the metric.' },
  'autoscaling.ResourceMetricSource': { name: NAMED.name, target: TARGET },
  'autoscaling.ResourceMetricStatus': { current: CURRENT, name: NAMED.name },
  'autoscaling.ContainerResourceMetricSource': { ...NAMED, target: TARGET },
  'autoscaling.ContainerResourceMetricStatus': { ...NAMED, current: CURRENT },
  'autoscaling.PodsMetricSource': { metric: WHICH, target: TARGET },
  'autoscaling.PodsMetricStatus': { current: CURRENT, metric: WHICH },
  'autoscaling.ExternalMetricSource': { metric: WHICH, target: TARGET },
  'autoscaling.ExternalMetricStatus': { current: CURRENT, metric: WHICH },
  'autoscaling.ObjectMetricSource': { describedObject: 'The object.', metric: WHICH, target: TARGET },
  'autoscaling.ObjectMetricStatus': { current: CURRENT, describedObject: 'The object.', metric: WHICH },
};
