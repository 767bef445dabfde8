/** Versions of kube-apiserver that the server can behave as (API-607). The first is the default. */
export const emulatedVersions = ['1.36', '1.37', '1.38'] as const;

export type EmulatedVersion = (typeof emulatedVersions)[number];

/** Features that are off unless their gate is set, with the first version that has the gate. */
const gateVersions = {
  ShardedListAndWatch: '1.36',
  ManagedFieldsOptOut: '1.38',
} as const satisfies Readonly<Record<string, EmulatedVersion>>;

export type FeatureGate = keyof typeof gateVersions;

/** The behaviour that depends on the emulated version and its gates. */
export interface Features {
  /** The Status that answers a DELETE has the resourceVersion of the deletion. */
  readonly deletionVersion: boolean;
  /** The 404 of an unknown path is a Status in JSON. */
  readonly jsonNotFound: boolean;
  /** Objects of a namespace that does not exist can be updated. */
  readonly updatesWithoutNamespace: boolean;
  /** An object that cannot be read can be deleted, by users who have the verb for it. */
  readonly unsafeDeletion: boolean;
  /** Lists and watches take a `shardSelector`. */
  readonly shards: boolean;
  /** `drop=metadata.managedFields` in the Accept header leaves the managers out of answers. */
  readonly managersDropped: boolean;
}

export function featuresOf(version: EmulatedVersion, gates: ReadonlySet<FeatureGate> = new Set()): Features {
  const since = (first: EmulatedVersion): boolean => version >= first;
  return {
    deletionVersion: since('1.38'),
    jsonNotFound: since('1.38'),
    updatesWithoutNamespace: since('1.37'),
    unsafeDeletion: since('1.37'),
    shards: gates.has('ShardedListAndWatch'),
    managersDropped: gates.has('ManagedFieldsOptOut'),
  };
}

/**
 * Parses `NAME=true,NAME=false` as kube-apiserver does. Returns the text of the error for a gate that the version does not have, or a
 * value that is no boolean.
 */
export function parseFeatureGates(text: string, version: EmulatedVersion): ReadonlySet<FeatureGate> | string {
  const gates = new Set<FeatureGate>();
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const [name = '', value] = pair.split('=').map((part) => part.trim());
    if (!isGate(name)) return `unrecognized feature gate: ${name}`;
    const since = gateVersions[name];
    if (version < since) return `feature gate ${name} needs version ${since} or later, not ${version}`;
    if (value === 'true') gates.add(name);
    else if (value === 'false') gates.delete(name);
    else return `invalid value of ${name}: ${value ?? 'missing'}, use true or false`;
  }
  return gates;
}

function isGate(name: string): name is FeatureGate {
  return Object.hasOwn(gateVersions, name);
}
