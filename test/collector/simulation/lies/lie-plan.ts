import type { Random } from '../../../../src/base/random/random.ts';
import type { Step } from '../plan.ts';

/** Answers of the right form that are not true (COL-116), and who gives them. */
export const LIES = [
  /** A list of a kind is empty. */
  'emptyList',
  /** A list of a kind shows what there was when the lie began, at the present version. */
  'staleList',
  /** Reads of objects come from a replica that has stopped at the time at which the lie began. */
  'laggingReplica',
  /** An object that has an owner, and that nothing depends on, is not found. */
  'wrongNotFound',
  /** New connections lead to another cluster. */
  'otherClusterByConnection',
  /** All that is read comes from another cluster, and writes go to the right one. */
  'otherClusterByRequest',
  /** The same lies, but only over connections that are opened while the lie lasts, and for as long as these are open. */
  'emptyListByConnection',
  'staleListByConnection',
  'wrongNotFoundByConnection',
  /** Such connections lead to a replica that has stopped: it lists and watches as well. */
  'laggingReplicaByConnection',
] as const;
export type LieName = (typeof LIES)[number];

/** For so long. */
export interface LieStep {
  readonly do: 'lie';
  readonly lie: LieName;
  /** The kind that is lied about; any unless given. */
  readonly kind?: string;
  readonly ms: number;
  /** Which connections of before break when it begins. */
  readonly breaks: 'all' | 'half' | 'none';
}

export interface LieScene {
  readonly random: Random;
  readonly kinds: readonly string[];
  /** Something that clients do. */
  readonly more: () => readonly Step[];
}

/** One lie, what clients do meanwhile, and lists that are asked for while it lasts. */
export function lieSteps(lie: LieName, { random, kinds, more }: LieScene): Step[] {
  const kind = random.pick(kinds);
  const steps: Step[] = [
    ...more(),
    {
      do: 'lie',
      lie,
      ...(random.integer(3) === 0 ? {} : { kind }),
      ms: random.pick([300, 1500, 4000, 12_000, 40_000]),
      breaks: random.pick(['all', 'half', 'none']),
    },
  ];
  for (let left = 1 + random.integer(3); left > 0; left--) {
    if (random.integer(2) === 0) steps.push(...more());
    if (random.integer(2) === 0) steps.push({ do: 'stream', stream: random.pick(['gone', 'gone', 'cut']), kind });
    if (random.integer(2) === 0) steps.push({ do: 'wait', ms: 1 + random.integer(random.pick([50, 1000, 5000])) });
  }
  if (random.integer(2) === 0) steps.push(...more());
  return steps;
}
