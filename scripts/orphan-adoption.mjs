// Deletes owners with policy Orphan and makes them anew, while their controller adopts at the worst moment, and counts what is lost
// (test/collector/orphan-adoption): npm run orphan-adoption [-- --rounds 10000]
import { parseArgs } from 'node:util';
import { bundledProgram } from './bundled-program.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10000' } } });
const rounds = Number(values.rounds);
if (!(rounds > 0)) throw new Error(`--rounds must be a number above 0, and is ${values.rounds}`);

const { orphanAdoption } = await import(await bundledProgram('test/collector/orphan-adoption/orphan-adoption.ts'));

/** A restart in each round forgets nothing that is an Event, and costs time: one round in ten has one. */
const shares = [
  { share: 0.9, options: { records: 'memory', barrier: 'off', restarts: 'never' } },
  { share: 0.1, options: { records: 'events', barrier: 'off', restarts: 'always' } },
];
const startedAt = Date.now();
let done = 0;
let late = 0;
let lost = 0;
for (const { share, options } of shares) {
  const outcome = await orphanAdoption({ ...options, rounds: Math.ceil(rounds * share) });
  done += outcome.rounds;
  late += outcome.late;
  for (const [window, count] of Object.entries(outcome.lost)) {
    lost += count;
    console.error(`lost in window ${window}: ${count} (${JSON.stringify(options)})`);
  }
}
const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
console.log(`orphan adoption: ${done} rounds in ${seconds} s, ${late} references came late, ${lost} dependents lost`);
if (lost > 0 || late === 0) process.exitCode = 1;
