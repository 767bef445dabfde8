import { seededRandom } from '../../src/base/random/random.ts';
import { playScene } from './play-scene.ts';
import { randomScene, type Scene, smaller } from './scene.ts';
import type { Stage } from './stage.ts';

/** Attempts to make a scene smaller. */
const MAX_ATTEMPTS = 400;

/** Plays scenes on stages that are renewed from time to time, so that what is left of earlier scenes stays little. */
export class Truth {
  readonly #open: (seed: number) => Promise<Stage>;
  readonly #scenesPerStage: number;
  #stage: Stage | undefined;
  #played = 0;
  /** Objects that ended as previewed for the other order of two that race. */
  raced = 0;

  constructor(open: (seed: number) => Promise<Stage>, scenesPerStage: number) {
    this.#open = open;
    this.#scenesPerStage = scenesPerStage;
  }

  playSeed(seed: number, most: number): Promise<string[]> {
    return this.play(randomScene(seededRandom(seed), most), seed);
  }

  /** Every difference between preview and reality; an error counts as one. */
  async play(scene: Scene, seed: number): Promise<string[]> {
    if (this.#stage !== undefined && this.#played % this.#scenesPerStage === 0) await this.close();
    this.#stage ??= await this.#open(seed);
    this.#stage.raced = () => void this.raced++;
    const prefix = `s${seed}n${this.#played++}`;
    try {
      return await playScene(this.#stage, scene, { prefix, seed });
    } catch (error) {
      await this.close();
      return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    }
  }

  /** The smallest scene that was found to differ still. */
  async shrink(
    seed: number,
    most: number,
  ): Promise<{ readonly scene: Scene; readonly differences: readonly string[] }> {
    let scene = randomScene(seededRandom(seed), most);
    let differences: readonly string[] = [];
    let attempts = 0;
    for (let found = true; found && attempts < MAX_ATTEMPTS;) {
      found = false;
      for (const candidate of smaller(scene)) {
        if (attempts++ >= MAX_ATTEMPTS) break;
        const still = await this.play(candidate, seed);
        if (still.length === 0) continue;
        scene = candidate;
        differences = still;
        found = true;
        break;
      }
    }
    return { scene, differences };
  }

  async close(): Promise<void> {
    await this.#stage?.close();
    this.#stage = undefined;
  }
}
