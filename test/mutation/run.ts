import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, readFaults } from './fault.ts';
import { findersOf, mutationPage, updatedPage } from './page.ts';
import type { Trial } from './tester.ts';
import type { Outcome } from './verdict.ts';

// `npm run mutation`: puts the faults of faults/ into the program, one at a time, and reports which test finds each.
const root = resolve(import.meta.dirname, '../..');
const page = join(root, 'docs/mutation.md');
/** Histories of the simulation for each fault: the last resort. */
const SIMULATIONS = '40';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    /** Test files that are tried besides those of the rooms and those that found a fault before. */
    test: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    /** Limit of processor time for each fault. */
    'limit-seconds': { type: 'string', default: '600' },
    /** The page gets the rows of the faults that ran; all others keep theirs. */
    write: { type: 'boolean', default: false },
    /** The tests have just passed without a fault: they are not run so again. */
    tested: { type: 'boolean', default: false },
    /** Tries one fault in so many. The commit decides which, so that each commit tries others. */
    'one-in': { type: 'string', default: '1' },
  },
});
const oneIn = Number(values['one-in']);
if (!Number.isInteger(oneIn) || oneIn < 1) throw new Error('--one-in takes an integer above 0');
const first =
  oneIn === 1 ? 0 : Number.parseInt(execFileSync('git', ['rev-parse', '--short=8', 'HEAD']).toString(), 16) % oneIn;
const faults = readFaults()
  .filter(({ name }) => values.only?.some((part) => name.includes(part)) ?? true)
  .filter((_, index) => index % oneIn === first);
if (faults.length === 0) throw new Error('no fault has such a name');

// The test that found the fault the last time is tried first; a run that writes the page anew looks for the nearest test instead.
const known = findersOf(await readFile(page, 'utf8'));
const finders = values.write ? new Map<string, string>() : known;
const elsewhere = [...new Set([...known.values(), ...values.test])];

interface Judged {
  readonly fault: Fault | undefined;
  readonly outcome: Outcome;
  readonly seconds: number;
}

function startTester(): ChildProcess {
  return fork(join(import.meta.dirname, 'tester-process.ts'), [values['limit-seconds'], ...elsewhere], {
    cwd: root,
    env: { ...process.env, SIMULATION_SEEDS: SIMULATIONS, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function ask(tester: ChildProcess, trial: Trial): Promise<Outcome> {
  const ended = new AbortController();
  const { signal } = ended;
  try {
    const answer = once(tester, 'message', { signal }).then(([said]) => said as Outcome);
    const exit = once(tester, 'exit', { signal }).then(([code]): Outcome => {
      return { outcome: 'broken', why: `the process of the tests ended: ${code}` };
    });
    tester.send(trial);
    return await Promise.race([answer, exit]);
  } finally {
    ended.abort();
  }
}

function tell({ fault, outcome, seconds }: Judged): void {
  const who = fault === undefined ? 'the program as it is' : `${fault.name} (${fault.rule})`;
  const time = `${seconds.toFixed(1)} s`;
  switch (outcome.outcome) {
    case 'found':
      return console.log(`found   ${who}  ${time}\n        ${outcome.file}: ${outcome.test}`);
    case 'passed':
      return console.log(`passed  ${who}  ${time}, ${outcome.tests} tests`);
    case 'broken':
      return console.log(`broken  ${who}  ${time}\n        ${outcome.why}`);
  }
}

const started = Date.now();
const judged: Judged[] = [];
// The first trial has no fault: only if no test fails then does a failing test prove that it found the fault.
const trials: Trial[] = [...(values.tested ? [] : [undefined]), ...faults].map((fault) => ({
  fault,
  finder: finders.get(fault?.name ?? ''),
}));
async function work(): Promise<void> {
  let tester: ChildProcess | undefined;
  for (let trial = trials.shift(); trial !== undefined; trial = trials.shift()) {
    if (tester?.connected !== true) tester = startTester();
    const from = Date.now();
    const outcome = await ask(tester, trial);
    // A broken run leaves a state in which the next one cannot begin.
    if (outcome.outcome === 'broken') tester.kill('SIGKILL');
    const done = { fault: trial.fault, outcome, seconds: (Date.now() - from) / 1000 };
    judged.push(done);
    tell(done);
    if (trial.fault === undefined && outcome.outcome !== 'passed') trials.length = 0;
  }
  if (tester?.connected === true) tester.disconnect();
}
await Promise.all(Array.from({ length: Number(values.workers) }, work));

const baseline = judged.find(({ fault }) => fault === undefined);
const results = judged
  .filter((each): each is Judged & { fault: Fault } => each.fault !== undefined)
  .toSorted((a, b) => (a.fault.name < b.fault.name ? -1 : 1));
const missed = results.filter(({ outcome }) => outcome.outcome !== 'found');
if (values.write && missed.length === 0) {
  const before = await readFile(page, 'utf8');
  await writeFile(
    page,
    values.only === undefined && oneIn === 1 ? mutationPage(results) : updatedPage(before, results, readFaults()),
  );
}
const minutes = ((Date.now() - started) / 60_000).toFixed(1);
console.log(`\n${results.length - missed.length} of ${results.length} faults found, in ${minutes} min`);
for (const { fault, outcome } of missed) {
  console.log(`NOT found: ${fault.name}: ${fault.breaks}${outcome.outcome === 'broken' ? ` (${outcome.why})` : ''}`);
}
const sound = values.tested || baseline?.outcome.outcome === 'passed';
if (!sound) console.log('The tests fail without any fault, so nothing was judged.');
process.exitCode = missed.length === 0 && results.length === faults.length && sound ? 0 : 1;
