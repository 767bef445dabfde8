import { inspect } from 'node:util';
import {
  type ControllerName as KnownController,
  controllerNames as knownControllers,
  fixedControllers,
} from '../../assembly/controller-names.ts';
import { type Random, seededRandom } from '../../base/random/random.ts';

/** One of {@link controllerNames}. */
export type ControllerName = Exclude<
  KnownController,
  | 'serviceaccount-token-controller'
  | 'podcertificaterequest-cleaner-controller'
  | 'storageversion-garbage-collector-controller'
>;

const NOT_OFFERED: ReadonlySet<KnownController> = new Set<KnownController>([
  'serviceaccount-token-controller',
  'podcertificaterequest-cleaner-controller',
  'storageversion-garbage-collector-controller',
]);

/**
 * The controllers of `kubegc up`, by kube-controller-manager's names, without the one that fills Secrets with tokens, because a test
 * cluster issues no tokens, and without those of PodCertificateRequests and StorageVersions, because the server does not serve these.
 */
export const controllerNames: readonly ControllerName[] = knownControllers.filter(isOffered);

function isOffered(name: KnownController): name is ControllerName {
  return !NOT_OFFERED.has(name);
}

/** Throws a TypeError for a value that is not a list, and for an unknown name, because JavaScript callers have no types. */
export function checkControllers(selected: readonly string[]): void {
  if (!Array.isArray(selected)) {
    throw new TypeError(`controllers is a list of names, not ${inspect(selected)}; all run when it is left out`);
  }
  const unknown = selected.find((name) => !(controllerNames as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`unknown controller "${unknown}"; there are: ${controllerNames.join(', ')}`);
}

const fixed: readonly string[] = Object.keys(fixedControllers).filter((name) => isOffered(name as KnownController));

/** The number of the faults' random stream. */
export const FAULTS_CHANCE = 1 + fixed.length;

/** The numbers of the random streams of controllers, shared caches and simulators, below those of a test's informers. */
export function chanceOf(name: string): number {
  const at = fixed.indexOf(name);
  if (at >= 0) return 1 + at;
  return FAULTS_CHANCE + 2 + (controllerNames as readonly string[]).indexOf(name);
}

/**
 * The seed of a cluster that starts from a snapshot. Each generation has its own; otherwise new objects would get the uids of existing
 * ones.
 */
export function seedOf(seed: number, generation: number): number {
  return generation === 0 ? seed : 2 ** 32 * generation + (Math.imul(seed, 0x9e3779b1) >>> 0);
}

/** The random stream of one part of a cluster: 0 is the API server, then the controllers, then the faults. */
export function randomOf(seed: number, part: number): Random {
  return seededRandom(seed * 64 + part);
}
