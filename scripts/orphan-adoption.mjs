// Deletes owners with policy Orphan and makes them anew, while their controller adopts at the worst moment, and counts what is lost
// (test/collector/orphan-adoption): npm run orphan-adoption [-- --rounds 10000]
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { bundledProgram } from './bundled-program.mjs';

/** A restart in each round forgets nothing that is an Event, and costs time: one round in ten has one. */
const shares = [
  { share: 0.45, options: { seed: 1, records: 'memory', barrier: 'off', restarts: 'never' } },
  { share: 0.45, options: { seed: 2, records: 'memory', barrier: 'off', restarts: 'never' } },
  { share: 0.1, options: { seed: 3, records: 'events', barrier: 'off', restarts: 'always' } },
];

/** Plays one share, in a thread of its own. */
async function play({ program, options, rounds }) {
  const { orphanAdoption } = await import(program);
  const outcome = await orphanAdoption({ ...options, rounds });
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

async function main() {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10000' } } });
  const rounds = Number(values.rounds);
  if (!(rounds > 0)) throw new Error(`--rounds must be a number above 0, and is ${values.rounds}`);
  const program = await bundledProgram('test/collector/orphan-adoption/orphan-adoption.ts');
  const startedAt = Date.now();
  const outcomes = await Promise.all(
    shares.map(({ share, options }) => played({ program, options, rounds: Math.ceil(rounds * share) })),
  );
  let done = 0;
  let late = 0;
  let lost = 0;
  for (const [index, outcome] of outcomes.entries()) {
    done += outcome.rounds;
    late += outcome.late;
    for (const [window, count] of Object.entries(outcome.lost)) {
      lost += count;
      console.error(`lost in window ${window}: ${count} (${JSON.stringify(shares[index].options)})`);
    }
  }
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(`orphan adoption: ${done} rounds in ${seconds} s, ${late} references came late, ${lost} dependents lost`);
  if (lost > 0 || late === 0) process.exitCode = 1;
}

await (isMainThread ? main() : play(workerData));
