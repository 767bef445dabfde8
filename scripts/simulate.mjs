// Random histories, as many as there is time for: of the collector (test/collector/simulation), or with `--world workloads` of the
// controllers of workloads and the collector together (test/lifecycle/simulation). The first that goes wrong ends the run: it is shrunk, written to a file, and can be replayed.
//
//   npm run simulate -- --seeds 10000 [--seed 1] [--workers 2]   so many seeds from the first one on
//   npm run simulate -- --minutes 3                              for so long, from a random seed on
//   npm run simulate -- --minutes 3 --seed commit                from the seed that stands for the commit on, as .ci/run does
//   npm run simulate -- --minutes 3 --regime emptyList           each history has a lie of this name; `lies`: any; `restore`: a restore
//   npm run simulate -- --world workloads --minutes 1            of the controllers of workloads
//   npm run simulate -- --replay FILE                            one plan, with everything that happened
import { execFileSync, fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledProgram } from './bundled-program.mjs';

/** A run of so many histories must have had everything that can occur; each one of workloads is longer. */
const COVERS_ALL = { collector: 25_000, workloads: 1000 };
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    workers: { type: 'string', default: '2' },
    replay: { type: 'string' },
    regime: { type: 'string' },
    world: { type: 'string', default: 'collector' },
    quiet: { type: 'boolean', default: false },
  },
});

function number(name, fallback) {
  const text = values[name];
  const value = text === undefined ? fallback : Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, and is ${text}`);
  return value;
}

/** Without a clone there is no commit: then the first there is. */
function seedOfCommit() {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'];
    return Number.parseInt(execFileSync('git', ['rev-parse', '--short=11', 'HEAD'], { encoding: 'utf8', stdio }), 16);
  } catch {
    return 1;
  }
}

const minutes = values.minutes === undefined ? Infinity : number('minutes');
const seeds = number('seeds', minutes === Infinity ? 1000 : Number.MAX_SAFE_INTEGER);
const workers = values.replay === undefined ? Math.min(number('workers', 2), seeds) : 1;
const base = values.seed === 'commit' ? seedOfCommit() : number('seed', randomInt(1, 2 ** 47));

const { worldNamed } = await import(await bundledProgram('test/collector/simulation/worlds.ts'));
const world = worldNamed(values.world);
if (values.regime !== undefined && !world.regimes.includes(values.regime)) {
  throw new Error(`--regime must be one of ${world.regimes.join(', ')}, and is ${values.regime}`);
}
const program = await bundledProgram('test/collector/simulation/simulation-process.ts');
const { Coverage } = await import(await bundledProgram('test/collector/simulation/coverage.ts'));

const coverage = new Coverage(world.expected);
const startedAt = Date.now();
const ofWorld = values.world === 'collector' ? '' : ` --world ${values.world}`;
let histories = 0;
let failure;
let trace = [];

function report(line) {
  if (!values.quiet) console.log(line);
}

function rate() {
  const seconds = (Date.now() - startedAt) / 1000;
  return `${histories} histories in ${seconds.toFixed(0)} s, ${(histories / Math.max(seconds, 0.001)).toFixed(0)} a second`;
}

function start(index) {
  const child = fork(program, {
    execArgv: ['--stack-trace-limit=0', '--max-semi-space-size=16', '--enable-source-maps'],
  });
  const ended = new Promise((resolve) => {
    child.on('message', (news) => {
      histories += news.histories;
      coverage.merge(news.covered);
      if (news.trace !== undefined) trace = news.trace;
      if (news.failure !== undefined) failure ??= news.failure;
      if (news.failure !== undefined) for (const other of children) if (other.child !== child) other.child.kill();
    });
    child.on('exit', (code, signal) => {
      if (code !== 0 && failure === undefined)
        failure = { seed: base, wrong: [`a process ended with ${code ?? signal}`] };
      resolve();
    });
  });
  const share = Math.ceil((seeds - index) / workers);
  const until = startedAt + minutes * 60_000;
  child.send({
    world: values.world,
    seed: base + index,
    stride: workers,
    seeds: share,
    until: Number.isFinite(until) ? until : Number.MAX_SAFE_INTEGER,
    ...(values.replay === undefined ? {} : { replay: values.replay }),
    ...(values.regime === undefined ? {} : { regime: values.regime }),
  });
  return { child, ended };
}

report(values.replay === undefined ? `first seed ${base}, ${workers} workers` : `replaying ${values.replay}`);
const children = Array.from({ length: workers }, (_, index) => start(index));
const progress = setInterval(() => report(rate()), PROGRESS_MS);
await Promise.all(children.map(({ ended }) => ended));
clearInterval(progress);

if (trace.length > 0) report(trace.join('\n'));
report(coverage.toString());
if (failure !== undefined) {
  const { seed, wrong, plan } = failure;
  console.error(`\nseed ${seed} went wrong:\n${wrong.join('\n')}`);
  if (plan !== undefined) {
    const file = join(tmpdir(), `kubegc-history-${seed}.json`);
    // The title is the first finding; whoever keeps the file names the rule in it.
    writeFileSync(file, `${JSON.stringify({ title: wrong[0], plan }, null, 2)}\n`);
    console.error(`\n${failure.trace.join('\n')}\n\nshrunk to ${plan.steps.length} steps: ${file}`);
    console.error(
      `again: npm run simulate --${ofWorld} --replay ${file}\nall of it: npm run simulate --${ofWorld} --seeds 1 --seed ${seed}${values.regime === undefined ? '' : ` --regime ${values.regime}`}`,
    );
  }
  process.exitCode = 1;
} else if (values.regime === undefined && histories >= COVERS_ALL[values.world] && coverage.missing.length > 0) {
  console.error(`never occurred: ${coverage.missing.join(', ')}`);
  process.exitCode = 1;
}
console.log(`simulation: ${rate()}, first seed ${base}: ${process.exitCode === 1 ? 'FAILED' : 'nothing wrong'}`);
