import { inspect } from 'node:util';
import {
  type ControllerName as KnownController,
  controllerNames as knownControllers,
  fixedControllers,
} from '../../assembly/controller-names.ts';
import { type Random, seededRandom } from '../../base/random/random.ts';

/** One of {@link controllerNames}. */
export type ControllerName = Exclude<KnownController, 'serviceaccount-token-controller'>;

/**
 * The controllers that `kubegc up` runs too, by kube-controller-manager's names, without the one that fills Secrets with tokens: a test
 * cluster signs no tokens.
 */
export const controllerNames: readonly ControllerName[] = knownControllers.filter(isOffered);

function isOffered(name: KnownController): name is ControllerName {
  return name !== 'serviceaccount-token-controller';
}

/** Throws a TypeError for what is no list, and for a name that is none: JavaScript does not hold callers to the type. */
export function checkControllers(selected: readonly string[]): void {
  if (!Array.isArray(selected)) {
    throw new TypeError(`controllers is a list of names, not ${inspect(selected)}; all run when it is left out`);
  }
  const unknown = selected.find((name) => !(controllerNames as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`unknown controller "${unknown}"; there are: ${controllerNames.join(', ')}`);
}

const fixed: readonly string[] = Object.keys(fixedControllers).filter((name) => isOffered(name as KnownController));

/** Chance of the faults. */
export const FAULTS_CHANCE = 1 + fixed.length;

/** A controller, the shared caches and a simulator have numbers of their own, below those of the informers of a test. */
export function chanceOf(name: string): number {
  const at = fixed.indexOf(name);
  if (at >= 0) return 1 + at;
  return FAULTS_CHANCE + 2 + (controllerNames as readonly string[]).indexOf(name);
}

/**
 * The seed of a cluster that starts from a snapshot. Every generation has its own: with that of the one before, new objects would get uids
 * that others have.
 */
export function seedOf(seed: number, generation: number): number {
  return generation === 0 ? seed : 2 ** 32 * generation + (Math.imul(seed, 0x9e3779b1) >>> 0);
}

/** A stream of chance for one part of a cluster: 0 is the API server, then the controllers, then the faults. */
export function randomOf(seed: number, part: number): Random {
  return seededRandom(seed * 64 + part);
}
