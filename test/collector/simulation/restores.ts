import type { Disturbances } from './disturbances.ts';
import { pickUndone, type Scene } from './motifs.ts';
import type { Step } from './plan.ts';

/** One in so many histories has a server that is restored from a backup. */
export const RESTORES_ONE_IN = 30;

const AWAY_MS = [1, 1000, 5000, 40_000];

export interface RestoreScene extends Scene {
  readonly disturbances: Disturbances;
  /** Other steps of clients and the network. */
  readonly more: () => readonly Step[];
  /** Watches stay open at the server that was there before. */
  readonly stays: boolean;
}

/** A backup, what clients do after it, and its restore; once more, now and then; and what they do with what lives again. */
export function restoreSteps(scene: RestoreScene): Step[] {
  const { random, ground } = scene;
  const undone = pickUndone(scene);
  const steps: Step[] = [...undone.before, { do: 'backup' }];
  const goBack = ground.remember();
  steps.push(...untilRestore(scene, undone.after), restore(scene));
  goBack();
  if (random.integer(3) === 0) steps.push(disturbances(scene));
  steps.push(...afterwards(scene));
  if (random.integer(6) > 0) return steps;
  // The same backup again.
  steps.push(...untilRestore(scene, []), restore(scene));
  goBack();
  return [...steps, ...afterwards(scene)];
}

/** The steps before the server goes away: none, slow requests, or requests that have just begun. */
function untilRestore(scene: RestoreScene, undone: readonly Step[]): Step[] {
  const { random, more } = scene;
  const steps = [...undone];
  for (let left = random.integer(3); left > 0; left--) steps.splice(random.integer(steps.length + 1), 0, ...more());
  if (random.integer(3) === 0) steps.splice(random.integer(steps.length + 1), 0, scene.disturbances.slow());
  if (random.integer(2) === 0) steps.push(scene.disturbances.wait());
  return steps;
}

function disturbances(scene: RestoreScene): Step {
  return scene.random.integer(2) === 0 ? scene.disturbances.wait() : scene.disturbances.fault();
}

function afterwards({ random, more }: RestoreScene): Step[] {
  const steps: Step[] = [];
  for (let left = random.integer(4); left > 0; left--) steps.push(...more());
  return steps;
}

function restore({ random, stays }: RestoreScene): Step {
  const most = random.pick(AWAY_MS);
  return {
    do: 'restore',
    awayMs: 1 + random.integer(most),
    bump: random.integer(3) === 0,
    ...(random.integer(4) === 0 ? { watches: 'refused' as const } : {}),
    ...(stays ? { stay: random.pick(['half', 'most'] as const) } : {}),
  };
}
