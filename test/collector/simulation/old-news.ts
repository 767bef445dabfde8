import type { Plan, Step } from './plan.ts';

/** A request that is not answered, or not let through, is given up after so long, ms; one that lists or watches after this. */
const REQUEST_GIVEN_UP_MS = 30_000;
const INTAKE_GIVEN_UP_MS = 60_000;
/** The longest a monitor pauses before it asks again: half a minute, and as much again by chance, ms. */
const LONGEST_PAUSE_MS = 60_000;
/** Between two questions for the version of a server that was away, and until one of them is given up, ms. */
const QUESTION_MS = 20_000;
/** A watch that stayed open at the server of before is opened anew by then, ms (`trust/reopened-watches.ts`). */
const REOPENED_MS = 31_000;
/** Pauses of a monitor after a lie, and one more list, ms. */
const LIED_TO_MS = 200_000;
/** The interval between two reads of discovery, which shows the served resources, ms. */
const DISCOVERY_MS = 31_000;
/**
 * Where nothing is disturbed: the time limit of a barrier, the waits of one decision between its tries, and a slow exchange of a
 * process that is dead by then, ms.
 */
const UNDISTURBED_MS = 10_000;
/** Exchanges of one decision one after the other, from what it rests on to its last write. */
const EXCHANGES = 20;
/** So many may be let through before one, where few calls are under way at once: more than a history has objects at one time. */
const IN_LINE = 10;

/** The longest, ms: the request waits, and so does the answer. */
export function exchangeMs({ oneIn, maxMs }: Plan['latency']): number {
  return oneIn === 0 ? 0 : 2 * maxMs;
}

/**
 * Returns how long after a fact has changed a collector may still act upon the old one, at most, ms: as if all disturbances of the plan
 * came one after the other, each when the event was about to arrive. The lag of watches is not in it: that is `lagMs` for each change that
 * was sent before.
 */
export function actsOnOldNewsForMs({ latency, steps }: Pick<Plan, 'latency' | 'steps'>): number {
  const decisionMs = EXCHANGES * Math.min(IN_LINE * exchangeMs(latency), REQUEST_GIVEN_UP_MS);
  return steps.reduce((sum, step) => sum + disturbedForMs(step), UNDISTURBED_MS + decisionMs);
}

function disturbedForMs(step: Step): number {
  switch (step.do) {
    case 'fault': {
      const ofIntake = ['intake', 'discovery', 'any'].includes(step.on);
      return step.times * (ofIntake ? INTAKE_GIVEN_UP_MS + LONGEST_PAUSE_MS : REQUEST_GIVEN_UP_MS);
    }
    case 'stream':
      // Missed events are lost: the watch is refused once, and the monitor lists anew.
      return (step.ms ?? 0) + (step.stream === 'gone' ? 2 : 1) * LONGEST_PAUSE_MS;
    case 'partition':
      return step.ms + LONGEST_PAUSE_MS;
    case 'restore':
      // Until the server is asked at which version it is.
      return step.awayMs + LONGEST_PAUSE_MS + QUESTION_MS + (step.stay === undefined ? 0 : REOPENED_MS);
    case 'lie':
      return step.ms + LIED_TO_MS;
    case 'define':
    case 'undefine':
      return DISCOVERY_MS + LONGEST_PAUSE_MS;
    default:
      return 0;
  }
}
