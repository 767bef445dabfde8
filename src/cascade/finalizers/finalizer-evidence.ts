import { isKubernetesFinalizer } from './known-finalizers.ts';

/** Something in the cluster that may be a controller. */
export interface ControllerSighting {
  /** `lease cert-manager/cert-manager-controller` */
  readonly what: string;
  /** Its names: of itself, of its labels, images and services. Lower case. */
  readonly words: readonly string[];
  /** It renewed its lease, or has pods that are ready. */
  readonly alive: boolean;
  /** What shows that it is alive or not, as a phrase: `renewed 3s ago`. */
  readonly proof: string;
}

export interface FinalizerEvidence {
  readonly served: 'yes' | 'no' | 'unknown';
  /** One sentence. */
  readonly evidence: string;
}

/** Parts of domains that say nothing about whose it is. */
const COMMON = new Set([
  'com',
  'dev',
  'finalizer',
  'finalizers',
  'io',
  'k8s',
  'kubernetes',
  'net',
  'org',
  'resources',
  'sh',
  'x-k8s',
  'cluster',
  'controller',
  'operator',
  'local',
  'svc',
]);
const LEAST_LENGTH = 4;

/**
 * Whether anything seems to serve a finalizer (CAS-031). `no` needs something that bears its domain and is not alive; without a
 * sighting the answer is `unknown`, because a controller may run outside of the cluster.
 * @param manager field manager that set the finalizer
 */
export function finalizerEvidence(
  finalizer: string,
  manager: string | undefined,
  sightings: readonly ControllerSighting[],
): FinalizerEvidence {
  const words = isKubernetesFinalizer(finalizer) ? ['kube-controller-manager'] : wordsOf(finalizer, manager);
  const found = sightings.filter((sighting) =>
    words.some((word) => sighting.words.some((each) => each.includes(word))),
  );
  const alive = found.find((each) => each.alive);
  if (alive !== undefined) return { served: 'yes', evidence: `${alive.what} bears its name, and ${alive.proof}` };
  const [dead] = found;
  if (dead !== undefined) return { served: 'no', evidence: `${dead.what} bears its name, but ${dead.proof}` };
  return {
    served: 'unknown',
    evidence: `no lease, workload or webhook bears the name ${words.join(' or ')}; its controller may run elsewhere`,
  };
}

/** The domain, its telling parts, and the manager. */
function wordsOf(finalizer: string, manager: string | undefined): string[] {
  const [domain = ''] = finalizer.toLowerCase().split('/');
  const parts = domain.split('.').filter((part) => part.length >= LEAST_LENGTH && !COMMON.has(part));
  const by = manager?.toLowerCase();
  // Tools of people and names of no program say nothing.
  const telling =
    by !== undefined && by.length >= LEAST_LENGTH && !/^(kubectl|kubegc|node|python|unknown|manager$|go-http)/.test(by);
  return [...new Set([domain, ...parts.slice(0, 2), ...(telling ? [by] : [])])];
}
