import type { Random } from '../../../src/base/random/random.ts';
import {
  type FaultName,
  FAULTS,
  type LatencyPlan,
  type Policy,
  type RequestClass,
  STREAM_FAULTS,
  type StreamFaultName,
} from './plan.ts';

/** The next step of a generator. */
export type Choice =
  | 'create'
  | 'delete'
  | 'refer'
  | 'finalizers'
  | 'label'
  | 'wait'
  | 'define'
  | 'fault'
  | 'stream'
  | 'process'
  | 'motif';

/**
 * The steps of one history, and how often each comes. Each seed has a style of its own, in which much is missing (swarm testing): if
 * everything may happen, two rare steps hardly ever come together.
 */
export interface PlanStyle {
  readonly choices: readonly (readonly [Choice, number])[];
  readonly policies: readonly Policy[];
  /** Longest waits, ms; each is as likely as it stands here often. */
  readonly waits: readonly number[];
  readonly faults: readonly FaultName[];
  readonly requests: readonly RequestClass[];
  readonly streams: readonly StreamFaultName[];
  /** Shares of references, 0 to 1: how many block, and how many name a wrong owner. */
  readonly blocking: number;
  readonly odd: number;
  /** Between two beats of a motif: how often something comes in between; 0 to 1. */
  readonly between: number;
  /** Objects at most that are ever spoken of at one time. */
  readonly places: number;
  readonly latency: LatencyPlan;
}

const USUAL: Readonly<Record<Choice, number>> = {
  create: 25,
  delete: 18,
  refer: 14,
  finalizers: 8,
  label: 2,
  wait: 11,
  define: 2,
  fault: 11,
  stream: 5,
  process: 3,
  motif: 25,
};
const POLICIES: readonly Policy[] = ['Background', 'Foreground', 'Orphan', 'none'];
const REQUESTS: readonly RequestClass[] = ['read', 'delete', 'patch', 'write', 'intake', 'discovery', 'any'];
const WAITS: readonly (readonly number[])[] = [
  [5, 50, 50, 400, 400, 3000, 35_000],
  [5, 50],
  [400, 3000],
  [3000, 3000, 35_000],
];

/** Without storms nothing goes wrong on the way. */
export function pickStyle(random: Random): PlanStyle {
  const stormy = random.integer(4) > 0;
  return {
    choices: pickChoices(random, stormy),
    policies: random.integer(3) > 0 ? [...POLICIES, 'Foreground'] : some(random, POLICIES, 2),
    waits: random.pick(WAITS),
    faults: random.integer(2) > 0 ? FAULTS : some(random, FAULTS, 3),
    requests: random.integer(2) > 0 ? [...REQUESTS, 'read', 'write', 'write', 'any'] : some(random, REQUESTS, 2),
    streams: random.integer(2) > 0 ? STREAM_FAULTS : some(random, STREAM_FAULTS, 2),
    blocking: random.pick([0.2, 0.5, 0.5, 0.7, 1]),
    odd: random.pick([0, 0.15, 0.15, 0.15, 0.5]),
    between: stormy ? random.pick([0, 0.2, 0.4]) : 0,
    places: random.pick([2, 3, 3, 4, 4, 5, 8]),
    latency: pickLatency(random, stormy),
  };
}

function pickChoices(random: Random, stormy: boolean): (readonly [Choice, number])[] {
  const usual = random.integer(5) === 0;
  const found: (readonly [Choice, number])[] = [];
  for (const [choice, weight] of Object.entries(USUAL) as [Choice, number][]) {
    const factor = usual ? 1 : random.pick(choice === 'create' ? [0.5, 1, 2] : [0, 0.3, 1, 1, 3]);
    const isStorm = choice === 'fault' || choice === 'stream' || choice === 'process';
    if (factor > 0 && (stormy || !isStorm)) found.push([choice, weight * factor]);
  }
  return found;
}

/** How much more often what can be defined comes and goes, where there is such: by the usual weight hardly a history would undefine. */
const DEFINES_MORE = 5;

/** The same style for a history that has kinds to define. */
export function definesMore(style: PlanStyle): PlanStyle {
  const choices = style.choices.map(
    ([choice, weight]) => [choice, choice === 'define' ? DEFINES_MORE * weight : weight] as const,
  );
  return { ...style, choices };
}

function pickLatency(random: Random, stormy: boolean): LatencyPlan {
  if (!stormy && random.integer(2) === 0) return { oneIn: 0, maxMs: 0 };
  const latency = { oneIn: random.pick([0, 1, 2, 4]), maxMs: random.pick([3, 30, 300, 3000]) };
  return stormy && random.integer(4) === 0 ? { ...latency, lagMs: random.pick([30, 300, 3000]) } : latency;
}

/** So many of a list, not all different. */
function some<T>(random: Random, all: readonly T[], count: number): T[] {
  return Array.from({ length: count }, () => random.pick(all));
}

export function pickChoice(random: Random, { choices }: PlanStyle): Choice {
  const sum = choices.reduce((before, [, weight]) => before + weight, 0);
  let left = random.float() * sum;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  return 'create';
}
