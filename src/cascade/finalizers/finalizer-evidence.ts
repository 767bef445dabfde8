import { isKubernetesFinalizer } from './known-finalizers.ts';

/** Something in the cluster that may be a controller. */
export interface ControllerSighting {
  /** `lease cert-manager/cert-manager-controller` */
  readonly what: string;
  /** Its names: of itself, of its labels, images and services. Lower case. */
  readonly words: readonly string[];
  /** It renewed its lease, or has pods that are ready. */
  readonly alive: boolean;
  /** The evidence that it is alive or not, as a phrase: `renewed 3s ago`. */
  readonly proof: string;
}

export interface FinalizerEvidence {
  readonly served: 'yes' | 'no' | 'unknown';
  /** One sentence. */
  readonly evidence: string;
}

/** Parts of domains that say nothing about whose it is. */
const COMMON: ReadonlySet<string> = new Set([
  'cluster',
  'controller',
  'example',
  'finalizer',
  'finalizers',
  'k8s',
  'kubernetes',
  'operator',
  'resources',
  'x-k8s',
]);
/** Finalizers of the API server itself, and the controller of every cluster that removes each. */
const OWN: Readonly<Record<string, string>> = {
  foregroundDeletion: 'the garbage collector of the cluster',
  orphan: 'the garbage collector of the cluster',
  kubernetes: 'the namespace controller of the cluster',
};
/** Shorter words are looked for as a whole: `kro` is in many words. */
const LEAST_LENGTH = 5;

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
  const found = sightings.filter((sighting) => words.some((word) => sighting.words.some((each) => bears(each, word))));
  const alive = found.find((each) => each.alive);
  if (alive !== undefined) return { served: 'yes', evidence: `${alive.what} bears its name, and ${alive.proof}` };
  const [dead] = found;
  if (dead !== undefined) return { served: 'no', evidence: `${dead.what} bears its name, but ${dead.proof}` };
  const own = OWN[finalizer];
  // Managed clusters show no lease of theirs to everybody, and an API server without its controllers is rare.
  if (own !== undefined) return { served: 'unknown', evidence: `${own} removes it; no lease shows whether that runs` };
  return {
    served: 'unknown',
    evidence: `no lease, workload or webhook bears the name ${words.join(' or ')}; its controller may run elsewhere`,
  };
}

const bears = (name: string, word: string): boolean =>
  name.split(/[^a-z0-9-]+/).includes(word) ||
  name.split(/[^a-z0-9]+/).includes(word) ||
  (word.length >= LEAST_LENGTH && name.includes(word));

/** The domain, whose it is, and the manager. */
function wordsOf(finalizer: string, manager: string | undefined): string[] {
  const [domain = ''] = finalizer.toLowerCase().split('/');
  // Whose it is stands right before the end: `cert-manager` of acme.cert-manager.io.
  const owner = domain
    .split('.')
    .slice(0, -1)
    .findLast((part) => !COMMON.has(part));
  const by = manager?.toLowerCase();
  // Tools of people and names of no program say nothing.
  const telling =
    by !== undefined && by.length >= LEAST_LENGTH && !/^(kubectl|kubegc|node|python|unknown|manager$|go-http)/.test(by);
  return [...new Set([domain, ...(owner === undefined ? [] : [owner]), ...(telling ? [by] : [])])];
}
