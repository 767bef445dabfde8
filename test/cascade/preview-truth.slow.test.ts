import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { embeddedStage } from './embedded-stage.ts';
import type { Scene } from './scene.ts';
import { Truth } from './truth.ts';

/** More of them: npm run preview-truth -- --seeds 10000 */
const SEEDS = Number(process.env['KUBEGC_PREVIEW_SEEDS'] ?? 30);
const FIRST = 1_000_000;
/** Scenes that once differed. */
const KEPT = join(import.meta.dirname, 'scenes');

describe('preview is true', () => {
  const truth = new Truth(embeddedStage, 20);
  afterAll(() => truth.close());

  it(
    'CAS-010 CAS-011 CAS-013 CAS-015 CAS-018 random scenes end as previewed: objects, references, finalizers, order',
    async () => {
      for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
        expect(await truth.playSeed(seed, 14), `seed ${seed}`).toEqual([]);
      }
    },
    10 * 60_000,
  );

  it.each(readdirSync(KEPT))('CAS-018 %s, which once differed, ends as previewed', async (file) => {
    const scene = JSON.parse(readFileSync(join(KEPT, file), 'utf8')) as Scene;
    expect(await truth.play(scene, 1)).toEqual([]);
  });
});
