import type { KubeObject } from '../../api/meta/object-meta.ts';
import { ACCOUNT_NAME } from '../../api/meta/token-secret.ts';
import { groupKind } from './rebuilt-by-controller.ts';

/** The lowest wave of a kind; other kinds are in wave 2 or later. */
const EARLIEST: Readonly<Record<string, number>> = {
  '/Namespace': 0,
  'apiextensions.k8s.io/CustomResourceDefinition': 0,
  'scheduling.k8s.io/PriorityClass': 0,
  'storage.k8s.io/StorageClass': 0,
  'node.k8s.io/RuntimeClass': 0,
  '/PersistentVolume': 1,
  '/ServiceAccount': 1,
  '/ConfigMap': 1,
  '/Secret': 1,
};
const OTHERS = 2;
/** Kinds that would refuse later objects while their backends do not run. */
const LAST: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
  'apiregistration.k8s.io/APIService',
]);

/**
 * The wave of each object: after its owners, its namespace, its definition, and the volume or account it names (CAS-063).
 * @param bodies objects to create
 * @returns one wave for each object, in the given order. In an ownership cycle, one edge is ignored.
 */
export function restoreWaves(bodies: readonly KubeObject[]): number[] {
  const prerequisites = prerequisitesOf(bodies);
  const waves = Array.from<number | undefined>({ length: bodies.length });
  const open = new Set<number>();
  // An explicit stack instead of recursion, because a chain of owners may be longer than the native stack.
  for (let start = 0; start < bodies.length; start++) {
    const stack = [start];
    while (stack.length > 0) {
      const at = stack.at(-1)!;
      if (waves[at] !== undefined) {
        stack.pop();
        continue;
      }
      open.add(at);
      const before = prerequisites(at);
      const next = before.find((other) => waves[other] === undefined && !open.has(other));
      if (next !== undefined) {
        stack.push(next);
        continue;
      }
      const after = before.map((other) => (waves[other] === undefined ? 0 : waves[other] + 1));
      waves[at] = Math.max(EARLIEST[kindOf(bodies[at]!)] ?? OTHERS, ...after);
      open.delete(at);
      stack.pop();
    }
  }
  const found = waves.map((wave) => wave ?? 0);
  const end = found.reduce((highest, wave) => Math.max(highest, wave), 0) + 1;
  return found.map((wave, index) => (LAST.has(kindOf(bodies[index]!)) ? end + wave : wave));
}

/** For each index, the indices that must exist first. */
function prerequisitesOf(bodies: readonly KubeObject[]): (index: number) => number[] {
  const byUid = new Map<string, number>();
  const byPlace = new Map<string, number>();
  const definitions = new Map<string, number>();
  for (const [index, body] of bodies.entries()) {
    const { uid, namespace = '', name = '' } = body.metadata ?? {};
    if (uid !== undefined) byUid.set(uid, index);
    byPlace.set(`${kindOf(body)}/${namespace}/${name}`, index);
    if (kindOf(body) !== 'apiextensions.k8s.io/CustomResourceDefinition') continue;
    const { group, names } = (body['spec'] ?? {}) as { group?: string; names?: { kind?: string } };
    definitions.set(`${group}/${names?.kind}`, index);
  }
  return (index) => {
    const body = bodies[index]!;
    const { namespace, ownerReferences = [] } = body.metadata ?? {};
    const found = [
      ...ownerReferences.map(({ uid }) => byUid.get(uid)),
      definitions.get(kindOf(body)),
      namespace === undefined ? undefined : byPlace.get(`/Namespace//${namespace}`),
      ...namedBy(body).map((place) => byPlace.get(place)),
    ];
    return found.filter((other) => other !== undefined && other !== index) as number[];
  };
}

/** Other objects that the body names and that must exist first. */
function namedBy(body: KubeObject): string[] {
  const namespace = body.metadata?.namespace ?? '';
  switch (kindOf(body)) {
    case '/PersistentVolumeClaim': {
      const volume = (body['spec'] as { volumeName?: string } | undefined)?.volumeName;
      return volume === undefined ? [] : [`/PersistentVolume//${volume}`];
    }
    case '/Secret': {
      const account = body.metadata?.annotations?.[ACCOUNT_NAME];
      return account === undefined ? [] : [`/ServiceAccount/${namespace}/${account}`];
    }
    case '/Pod': {
      const account = (body['spec'] as { serviceAccountName?: string } | undefined)?.serviceAccountName;
      return account === undefined ? [] : [`/ServiceAccount/${namespace}/${account}`];
    }
    default:
      return [];
  }
}

const kindOf = ({ apiVersion, kind }: KubeObject): string => groupKind(apiVersion, kind);
