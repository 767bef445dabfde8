// Plays random scenes: each is previewed, really deleted, and compared (CAS-018). The first that differs is made smaller and written to
// test/cascade/scenes, where the tests play it ever after.
//
//   npm run preview-truth -- --seeds 10000 [--seed 1]                  on the embedded server, in this process
//   npm run preview-truth -- --minutes 1 --seed commit                as many as fit, from the seed that stands for the commit on, as .ci/run does
//   npm run preview-truth -- --seeds 100 --kubeconfig FILE [--nodes]   on a real cluster; --nodes: it has kubelets and storage
//   npm run preview-truth -- --replay FILE                             one scene
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { clusterStage } from './cluster-stage.ts';
import { embeddedStage } from './embedded-stage.ts';
import type { Scene } from './scene.ts';
import { Truth } from './truth.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    most: { type: 'string', default: '14' },
    kubeconfig: { type: 'string' },
    nodes: { type: 'boolean', default: false },
    replay: { type: 'string' },
  },
});

async function main(): Promise<number> {
  const { kubeconfig } = values;
  const truth = new Truth(
    kubeconfig === undefined ? embeddedStage : () => clusterStage(kubeconfig, values.nodes),
    kubeconfig === undefined ? 20 : Number.MAX_SAFE_INTEGER,
  );
  try {
    if (values.replay !== undefined) {
      const differences = await truth.play(JSON.parse(readFileSync(values.replay, 'utf8')) as Scene, 1);
      console.log(differences.length === 0 ? 'as previewed' : differences.join('\n'));
      return differences.length === 0 ? 0 : 1;
    }
    const first = values.seed === 'commit' ? seedOfCommit() : Number(values.seed);
    const startedAt = Date.now();
    const until = values.minutes === undefined ? Number.POSITIVE_INFINITY : startedAt + Number(values.minutes) * 60_000;
    const seeds = values.minutes === undefined ? Number(values.seeds) : Number.MAX_SAFE_INTEGER;
    let played = 0;
    for (let seed = first; played < seeds && Date.now() < until; seed++, played++) {
      const differences = await truth.playSeed(seed, Number(values.most));
      if (differences.length > 0) {
        console.log(`seed ${seed}:\n  ${differences.join('\n  ')}`);
        const smallest = await truth.shrink(seed, Number(values.most));
        const file = `test/cascade/scenes/seed-${seed}.json`;
        writeFileSync(file, `${JSON.stringify(smallest.scene, undefined, 2)}\n`);
        console.log(`made smaller, in ${file}:\n  ${smallest.differences.join('\n  ')}`);
        return 1;
      }
      const done = seed - first + 1;
      if (done % 100 === 0)
        console.log(
          `${done} scenes as previewed, ${((Date.now() - startedAt) / done).toFixed(0)} ms each, ${truth.raced} raced`,
        );
    }
    console.log(
      `${played} scenes as previewed, from seed ${first} on; ${truth.raced} objects as in the other order of two that race`,
    );
    return 0;
  } finally {
    await truth.close();
  }
}

/** Without a clone there is no commit: then the first there is. */
function seedOfCommit(): number {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return Number.parseInt((stdout ?? '').slice(0, 8), 16) || 1;
}

process.exitCode = await main();
