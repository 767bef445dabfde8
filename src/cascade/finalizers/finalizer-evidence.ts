import { isKubernetesFinalizer } from './known-finalizers.ts';

/** An object of the cluster that may belong to a controller. */
export interface ControllerSighting {
  /** `lease cert-manager/cert-manager-controller` */
  readonly what: string;
  /** Its words: its name, labels, images and services, in lower case. */
  readonly words: readonly string[];
  /** True if it renewed its lease, or has ready pods. */
  readonly alive: boolean;
  /** The evidence for `alive`, as a phrase: `renewed 3s ago`. */
  readonly proof: string;
}

export interface FinalizerEvidence {
  readonly served: 'yes' | 'no' | 'unknown';
  /** One sentence. */
  readonly evidence: string;
}

/** Parts of domains that do not identify an owner. */
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
/** Finalizers of the API server itself, with the standard controller that removes each. */
const OWN: Readonly<Record<string, string>> = {
  foregroundDeletion: 'the garbage collector of the cluster',
  orphan: 'the garbage collector of the cluster',
  kubernetes: 'the namespace controller of the cluster',
};
/** Shorter words are matched as a whole, because `kro` occurs in many words. */
const LEAST_LENGTH = 5;

/**
 * Whether there is evidence of a program that serves a finalizer (CAS-031). `no` needs a program with its domain that is not alive; without
 * one the answer is `unknown`, because a controller may run outside of the cluster.
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
  // Nothing is known without a lease: managed clusters hide the leases of their controllers, although these run in nearly every cluster.
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

/** The words of the domain and the manager. */
function wordsOf(finalizer: string, manager: string | undefined): string[] {
  const [domain = ''] = finalizer.toLowerCase().split('/');
  // The owner is the part before the top-level domain: `cert-manager` of acme.cert-manager.io.
  const owner = domain
    .split('.')
    .slice(0, -1)
    .findLast((part) => !COMMON.has(part));
  const by = manager?.toLowerCase();
  // Names of tools for people, and names that are no programs, identify no owner.
  const telling =
    by !== undefined && by.length >= LEAST_LENGTH && !/^(kubectl|kubegc|node|python|unknown|manager$|go-http)/.test(by);
  return [...new Set([domain, ...(owner === undefined ? [] : [owner]), ...(telling ? [by] : [])])];
}
