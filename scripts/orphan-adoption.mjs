// Deletes owners with policy Orphan and makes them anew, while their controller adopts at the worst moment, and counts lost dependents:
// with a controller written for it (test/collector/orphan-adoption), then with each controller of ours that adopts (test/lifecycle/orphan-race).
// npm run orphan-adoption [-- --rounds 10000 --own-rounds 1000]; --own-rounds is the number for each window, shared among the controllers.
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { bundledProgram } from './bundled-program.mjs';

/** A restart in each round forgets nothing that is an Event, and costs time: one round in ten has one. */
const shares = [
  { share: 0.45, options: { seed: 1, records: 'memory', barrier: 'off', restarts: 'never' } },
  { share: 0.45, options: { seed: 2, records: 'memory', barrier: 'off', restarts: 'never' } },
  { share: 0.1, options: { seed: 3, records: 'events', barrier: 'off', restarts: 'always' } },
];

/**
 * Controllers of ours that adopt. One share in six has its collector replaced while the write is on its way, and another one loses its records
 * with that, where the server's guard and the barrier must be enough.
 */
const OWN_KINDS = ['ReplicaSet', 'ReplicationController', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job'];
const WINDOWS = 5;
const WITHOUT_RECORDS = { ownerGuard: 'controllers', barrier: 'on' };

/** Plays one share, in a thread of its own. */
async function play({ program, name, options }) {
  const { [name]: run } = await import(program);
  const outcome = await run(options);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, which has none
  parentPort.postMessage(outcome);
}

function played(job) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job, argv: [] });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a thread ended with ${code}`)));
  });
}

/** Plays jobs of one program, some of them at a time, and reports what they lost. */
async function report(title, entry, name, jobs) {
  const program = await bundledProgram(entry);
  const startedAt = Date.now();
  const outcomes = [];
  const waiting = [...jobs.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, options] = next;
      outcomes[index] = await played({ program, name, options });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  let done = 0;
  let late = 0;
  let lost = 0;
  for (const [index, outcome] of outcomes.entries()) {
    done += outcome.rounds;
    late += outcome.late;
    for (const [window, count] of Object.entries(outcome.lost)) {
      lost += count;
      console.error(`lost in window ${window}: ${count} (${JSON.stringify(jobs[index])})`);
    }
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(`${title}: ${done} rounds in ${seconds} s, ${late} references came late, ${lost} dependents lost`);
  if (lost > 0 || (done > 0 && late === 0)) process.exitCode = 1;
}

/** Shares that are played at once. */
const AT_ONCE = 3;

function roundsOf(flag, text) {
  const rounds = Number(text);
  if (rounds >= 0) return rounds;
  throw new Error(`--${flag} must be a number from 0, and is ${text}`);
}

async function main() {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '10000' }, 'own-rounds': { type: 'string', default: '1000' } },
  });
  const rounds = roundsOf('rounds', values.rounds);
  const own = roundsOf('own-rounds', values['own-rounds']);
  if (rounds > 0) {
    const jobs = shares.map(({ share, options }) => ({ ...options, rounds: Math.ceil(rounds * share) }));
    const entry = 'test/collector/orphan-adoption/orphan-adoption.ts';
    await report('orphan adoption', entry, 'orphanAdoption', jobs);
  }
  if (own > 0) {
    const each = Math.ceil(own / OWN_KINDS.length);
    const replaced = Math.ceil(each / 6);
    const jobs = OWN_KINDS.flatMap((kind, index) => [
      { kind, seed: index, rounds: each - 2 * replaced, records: 'memory', restarts: 'never' },
      { kind, seed: index, rounds: replaced, records: 'events', restarts: 'always' },
      { kind, seed: index, rounds: replaced, records: 'memory', restarts: 'always', ...WITHOUT_RECORDS },
    ]).filter((job) => job.rounds > 0);
    const entry = 'test/lifecycle/orphan-race/orphan-race.ts';
    await report(`orphan adoption by our controllers, ${WINDOWS} windows`, entry, 'orphanRace', jobs);
  }
}

await (isMainThread ? main() : play(workerData));
