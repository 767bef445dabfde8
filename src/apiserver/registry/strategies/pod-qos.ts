type Amounts = Readonly<Record<string, unknown>>;

interface Resources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}

interface WithResources {
  readonly resources?: Resources | undefined;
}

interface QosSpec extends WithResources {
  readonly containers?: readonly WithResources[] | undefined;
  readonly initContainers?: readonly WithResources[] | undefined;
}

const counted = ['cpu', 'memory'] as const;

/**
 * Guaranteed if all containers have equal requests and limits for both resources, BestEffort if none has any, otherwise Burstable
 * (API-152).
 */
export function qosClassOf(spec: QosSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const own = spec.resources;
  const all: Resources[] =
    own !== undefined && (size(own.requests) > 0 || size(own.limits) > 0)
      ? [own]
      : [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ resources }) => resources ?? {});
  let guaranteed = true;
  let bestEffort = true;
  for (const { requests = {}, limits = {} } of all) {
    for (const name of counted) {
      if (isSet(requests[name]) || isSet(limits[name])) bestEffort = false;
      if (!isSet(limits[name]) || String(requests[name] ?? limits[name]) !== String(limits[name])) guaranteed = false;
    }
  }
  if (bestEffort) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function size(amounts: Amounts | undefined): number {
  return amounts === undefined ? 0 : Object.keys(amounts).length;
}

/** Zero counts as unset. */
function isSet(amount: unknown): boolean {
  return amount !== undefined && amount !== null && String(amount) !== '0';
}
