/**
 * Metrics of an autoscaler in the shape of `autoscaling/v2` and in the flat shape that the annotations of
 * `autoscaling/v1` hold (upstream `pkg/apis/autoscaling/v1/conversion.go`).
 */
type Fields = Record<string, unknown>;

/** The field of the flat shape for a value of the nested shape. */
interface ValueNames {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: string;
}

/** The flat form of one type of metric. `target` is for specs, `current` for statuses. */
interface Shape {
  /** Keeps `name` (and `container`) instead of a metric with a selector. */
  readonly named: boolean;
  readonly selector?: string;
  /** The object that the metric describes, called `target` in the flat shape. */
  readonly about?: 'describedObject';
  readonly target: ValueNames;
  readonly current: ValueNames;
}

const RESOURCE: Shape = {
  named: true,
  target: { averageValue: 'targetAverageValue', averageUtilization: 'targetAverageUtilization' },
  current: { averageValue: 'currentAverageValue', averageUtilization: 'currentAverageUtilization' },
};

const SHAPES: Readonly<Record<string, Shape>> = {
  object: {
    named: false,
    selector: 'selector',
    about: 'describedObject',
    target: { value: 'targetValue', averageValue: 'averageValue' },
    current: { value: 'currentValue', averageValue: 'averageValue' },
  },
  pods: {
    named: false,
    selector: 'selector',
    target: { averageValue: 'targetAverageValue' },
    current: { averageValue: 'currentAverageValue' },
  },
  resource: RESOURCE,
  containerResource: RESOURCE,
  external: {
    named: false,
    selector: 'metricSelector',
    target: { value: 'targetValue', averageValue: 'targetAverageValue' },
    current: { value: 'currentValue', averageValue: 'currentAverageValue' },
  },
};

/** Fields that Go always prints in the flat shape, because they are not pointers there. */
const ALWAYS_PRINTED: ReadonlySet<string> = new Set([
  'object/targetValue',
  'object/currentValue',
  'pods/targetAverageValue',
  'pods/currentAverageValue',
  'resource/currentAverageValue',
  'containerResource/currentAverageValue',
  'external/currentValue',
]);

export type MetricPart = 'target' | 'current';

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function isCpuUtilization(metric: Fields, part: MetricPart): boolean {
  return cpuUtilization(metric, part) !== undefined;
}

/** Average utilization of the CPU resource metric, the only metric with a field in `autoscaling/v1`. */
export function cpuUtilization(metric: Fields, part: MetricPart): unknown {
  const resource = fieldsOf(metric['resource']);
  if (metric['type'] !== 'Resource' || resource?.['name'] !== 'cpu') return undefined;
  return fieldsOf(resource[part])?.['averageUtilization'] ?? undefined;
}

export function flattenMetric(metric: Fields, part: MetricPart): Fields {
  const flat: Fields = { type: metric['type'] };
  for (const [sort, shape] of Object.entries(SHAPES)) {
    const source = fieldsOf(metric[sort]);
    if (source === undefined) continue;
    const out: Fields = {};
    if (shape.about !== undefined) out['target'] = source[shape.about];
    if (shape.named) {
      out['name'] = source['name'];
      if (source['container'] !== undefined) out['container'] = source['container'];
    } else {
      const identifier = fieldsOf(source['metric']);
      out['metricName'] = identifier?.['name'] ?? '';
      const selector = identifier?.['selector'];
      if (shape.selector !== undefined && selector !== undefined) out[shape.selector] = selector;
    }
    const values = fieldsOf(source[part]) ?? {};
    for (const [nested, name] of Object.entries(shape[part]) as [string, string][]) {
      const value = values[nested] ?? (ALWAYS_PRINTED.has(`${sort}/${name}`) ? '0' : undefined);
      if (value !== undefined) out[name] = value;
    }
    flat[sort] = out;
  }
  return flat;
}

export function unflattenMetric(flat: Fields, part: MetricPart): Fields {
  const metric: Fields = { type: flat['type'] };
  for (const [sort, shape] of Object.entries(SHAPES)) {
    const source = fieldsOf(flat[sort]);
    if (source === undefined) continue;
    const out: Fields = {};
    if (shape.about !== undefined) out[shape.about] = source['target'];
    if (shape.named) {
      out['name'] = source['name'];
      if (source['container'] !== undefined) out['container'] = source['container'];
    } else {
      const selector = shape.selector === undefined ? undefined : source[shape.selector];
      out['metric'] = { name: source['metricName'] ?? '', ...(selector === undefined ? {} : { selector }) };
    }
    const values: Fields = {};
    for (const [nested, name] of Object.entries(shape[part]) as [string, string][]) {
      if (source[name] !== undefined) values[nested] = source[name];
    }
    out[part] = part === 'target' ? withTargetType(values) : values;
    metric[sort] = out;
  }
  return metric;
}

/** The flat shape has no target type; the given value determines it. */
function withTargetType(values: Fields): Fields {
  if (values['averageUtilization'] !== undefined) return { type: 'Utilization', ...values };
  if (values['averageValue'] === undefined)
    return { type: values['value'] === undefined ? 'AverageValue' : 'Value', ...values };
  // A value of 0 beside an average is present only because the flat shape cannot omit it.
  const { value, ...rest } = values;
  return { type: 'AverageValue', ...rest, ...(value === undefined || value === '0' ? {} : { value }) };
}
