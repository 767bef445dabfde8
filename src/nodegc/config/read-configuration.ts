import { DurationError, parseDuration } from './go-duration.ts';
import { type NodeConfiguration, defaultConfiguration } from './node-configuration.ts';
import { ConfigurationError } from './validate-configuration.ts';

/** The kind with every setting; a KubeletConfiguration has only the kubelet's settings. */
export const NODE_GC_CONFIGURATION = { apiVersion: 'node.kubegc/v1alpha1', kind: 'NodeGCConfiguration' };
const KUBELET_CONFIGURATION = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

type Reader = (value: unknown, field: string) => unknown;

function mismatch(field: string, wanted: string, value: unknown): ConfigurationError {
  return new ConfigurationError(`${field}: Invalid value: ${JSON.stringify(value)}: must be ${wanted}`);
}

const duration: Reader = (value, field) => {
  if (typeof value !== 'string') throw mismatch(field, 'a duration such as "2m"', value);
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw new ConfigurationError(`${field}: ${error.message}`);
  }
};
const integer: Reader = (value, field) => {
  if (Number.isSafeInteger(value)) return value;
  throw mismatch(field, 'an integer', value);
};
const flag: Reader = (value, field) => {
  if (typeof value === 'boolean') return value;
  throw mismatch(field, 'true or false', value);
};
const text: Reader = (value, field) => {
  if (typeof value === 'string') return value;
  throw mismatch(field, 'a string', value);
};
const oneOf =
  (...allowed: readonly string[]): Reader =>
  (value, field) => {
    if (typeof value === 'string' && allowed.includes(value)) return value;
    throw new ConfigurationError(
      `${field}: Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((each) => `"${each}"`).join(', ')}`,
    );
  };
const listOf =
  (reader: Reader): Reader =>
  (value, field) => {
    if (!Array.isArray(value)) throw mismatch(field, 'a list', value);
    return value.map((each, index) => reader(each, `${field}[${index}]`));
  };
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapOf =
  (reader: Reader): Reader =>
  (value, field) => {
    if (!isObject(value)) throw mismatch(field, 'a map', value);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reader(each, `${field}.${key}`)]));
  };

type Fields = Readonly<Record<string, Reader>>;
const objectOf =
  (fields: Fields): Reader =>
  (value, field) => {
    if (!isObject(value)) throw mismatch(field, 'a map', value);
    return readFields(value, fields, { prefix: `${field}.`, strict: true });
  };

/** The fields of the kubelet's file that are read; the other fields concern only the kubelet (NODE-001). */
const kubeletFields: Fields = {
  imageMinimumGCAge: duration,
  imageMaximumGCAge: duration,
  imageGCHighThresholdPercent: integer,
  imageGCLowThresholdPercent: integer,
  podLogsDir: text,
  containerRuntimeEndpoint: text,
  imageServiceEndpoint: text,
  runtimeRequestTimeout: duration,
  evictionHard: mapOf(text),
  evictionMinimumReclaim: mapOf(text),
  nodeStatusMaxImages: integer,
  featureGates: mapOf(flag),
};

const ownFields: Fields = {
  ...kubeletFields,
  containerGC: objectOf({
    minAge: duration,
    maxPerPodContainer: integer,
    maxContainers: integer,
    minAgeFrom: oneOf('created', 'finished'),
    maxAge: duration,
    useAllPlaces: flag,
  }),
  containerLogsDir: text,
  mode: oneOf('auto', 'besideKubelet', 'standalone', 'audit'),
  accounting: oneOf('measured', 'kubelet'),
  imageAges: oneOf('kubelet', 'independent'),
  choose: oneOf('fewest', 'leastRecentlyUsed'),
  protectRecent: duration,
  parallelRemovals: integer,
  inodesHighPercent: integer,
  inodesLowPercent: integer,
  protect: listOf(text),
  keepNewest: mapOf(integer),
  scope: oneOf('node', 'cluster'),
  collectForeign: flag,
  imageVolumes: flag,
  dryRun: flag,
  stateFile: text,
  metrics: objectOf({ kubeletNames: flag }),
};

function readFields(
  value: Readonly<Record<string, unknown>>,
  fields: Fields,
  { prefix = '', strict }: { readonly prefix?: string; readonly strict: boolean },
): Record<string, unknown> {
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
  if (strict && unknown.length > 0) {
    throw new ConfigurationError(
      `strict decoding error: ${unknown.map((key) => `unknown field "${prefix}${key}"`).join(', ')}`,
    );
  }
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([key]) => value[key] !== undefined && value[key] !== null)
      .map(([key, reader]) => [key, reader(value[key], `${prefix}${key}`)]),
  );
}

/**
 * Overrides `base` with the settings of one configuration file. An empty document changes nothing.
 * @param document the content of the file, decoded from YAML or JSON
 * @throws ConfigurationError for an unknown kind, a wrong type, and a field that this kind does not have
 */
export function readConfiguration(
  document: unknown,
  base: NodeConfiguration = defaultConfiguration,
): NodeConfiguration {
  if (document === null || document === undefined) return base;
  if (!isObject(document)) throw new ConfigurationError('the configuration must be a map with apiVersion and kind');
  const { apiVersion, kind, ...fields } = document;
  const is = (wanted: typeof NODE_GC_CONFIGURATION): boolean =>
    kind === wanted.kind && apiVersion === wanted.apiVersion;
  if (!is(NODE_GC_CONFIGURATION) && !is(KUBELET_CONFIGURATION)) {
    throw new ConfigurationError(
      `no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}: write ` +
        `${NODE_GC_CONFIGURATION.apiVersion} ${NODE_GC_CONFIGURATION.kind}, or ${KUBELET_CONFIGURATION.apiVersion} ${KUBELET_CONFIGURATION.kind}`,
    );
  }
  const own = is(NODE_GC_CONFIGURATION);
  const read = readFields(fields, own ? ownFields : kubeletFields, { strict: own }) as Partial<NodeConfiguration>;
  return withDefaults({
    ...base,
    ...read,
    containerGC: { ...base.containerGC, ...read.containerGC },
    metrics: { ...base.metrics, ...read.metrics },
    featureGates: { ...base.featureGates, ...read.featureGates },
  });
}

/** Replaces a zero that means "unset" by the default, before anything is validated (NODE-005). */
export function withDefaults(configuration: NodeConfiguration): NodeConfiguration {
  return configuration.imageMinimumGCAge === 0n
    ? { ...configuration, imageMinimumGCAge: defaultConfiguration.imageMinimumGCAge }
    : configuration;
}
