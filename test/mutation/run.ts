import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CACHE_VARIABLE, FAULT_VARIABLE, type Fault, FINDER_VARIABLE, readFaults } from './fault.ts';
import { findersOf, mutationPage } from './page.ts';
import { judge, type Outcome } from './verdict.ts';

// `npm run mutation`: puts the faults of faults/ into the program, one at a time, and tells which test finds each.
const root = resolve(import.meta.dirname, '../..');
const config = relative(root, join(import.meta.dirname, 'vitest.config.ts'));
const page = join(root, 'docs/mutation.md');
/** Histories of the simulation for each fault: the last resort. */
const SIMULATIONS = '40';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    workers: { type: 'string', default: '2' },
    'limit-seconds': { type: 'string', default: '300' },
    write: { type: 'boolean', default: false },
  },
});
const limitMs = Number(values['limit-seconds']) * 1000;
const faults = readFaults().filter(({ name }) => values.only?.some((part) => name.includes(part)) ?? true);
if (faults.length === 0) throw new Error('no fault has such a name');

// What found it the last time is tried first; who writes the page anew wants to know what is nearest.
const finders = values.write ? new Map<string, string>() : findersOf(await readFile(page, 'utf8'));
const folder = await mkdtemp(join(tmpdir(), 'kubegc-mutation-'));
const children = new Set<ReturnType<typeof spawn>>();
process.once('SIGINT', () => {
  for (const child of children) child.kill('SIGKILL');
  process.exit(130);
});

interface Job {
  /** Without one the program is run as it is. */
  readonly fault: Fault | undefined;
}

interface Judged extends Job {
  readonly outcome: Outcome;
  readonly seconds: number;
}

async function runTests({ fault }: Job): Promise<Judged> {
  const from = Date.now();
  const file = join(folder, `${fault?.name ?? 'none'}.json`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--reporter=json', `--outputFile=${file}`];
  const own = {
    SIMULATION_SEEDS: SIMULATIONS,
    NO_COLOR: '1',
    [CACHE_VARIABLE]: join(folder, 'cache'),
    [FAULT_VARIABLE]: fault?.name,
    [FINDER_VARIABLE]: finders.get(fault?.name ?? ''),
  };
  const env = { ...process.env, ...own };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.add(child);
  let said = '';
  let late = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, limitMs);
  const code = await new Promise<number | null>((settle) => child.once('close', settle));
  clearTimeout(timer);
  children.delete(child);
  const report = await readFile(file, 'utf8').catch(() => undefined);
  const outcome = judge({ exit: late ? 'killed' : code, report, said }, root);
  return { fault, outcome, seconds: (Date.now() - from) / 1000 };
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
// First without any: only if no test fails then does a failing one tell about the fault.
const jobs: Job[] = [{ fault: undefined }, ...faults.map((fault) => ({ fault }))];
async function work(): Promise<void> {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const done = await runTests(job);
    judged.push(done);
    tell(done);
    if (job.fault === undefined && done.outcome.outcome !== 'passed') jobs.length = 0;
  }
}
await Promise.all(Array.from({ length: Number(values.workers) }, work));
await rm(folder, { recursive: true });

const baseline = judged.find(({ fault }) => fault === undefined);
const results = judged
  .filter((each): each is Judged & { fault: Fault } => each.fault !== undefined)
  .toSorted((a, b) => (a.fault.name < b.fault.name ? -1 : 1));
const missed = results.filter(({ outcome }) => outcome.outcome !== 'found');
if (values.write && values.only === undefined && missed.length === 0) await writeFile(page, mutationPage(results));
const minutes = ((Date.now() - started) / 60_000).toFixed(1);
console.log(`\n${results.length - missed.length} of ${results.length} faults found, in ${minutes} min`);
for (const { fault, outcome } of missed) {
  console.log(`NOT found: ${fault.name}: ${fault.breaks}${outcome.outcome === 'broken' ? ` (${outcome.why})` : ''}`);
}
if (baseline?.outcome.outcome !== 'passed') console.log('The tests fail without any fault, so nothing was judged.');
process.exitCode =
  missed.length === 0 && results.length === faults.length && baseline?.outcome.outcome === 'passed' ? 0 : 1;
