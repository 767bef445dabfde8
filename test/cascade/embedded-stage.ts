import { controllerNames, startCluster } from '../../src/testing/testing.ts';
import type { Stage } from './stage.ts';

/** Fake milliseconds that resting may let pass: within these the namespace controller lists the rest of a namespace again. */
const ADVANCE_MS = 20_000;

/** The collector reads discovery twice within these. */
const NOTICED_MS = 61_000;

/** The storage of volumes is played by `play-scene.ts`, which deletes it as a provisioner outside would. */
const controllers = controllerNames.filter((name) => name !== 'persistentvolume-binder-controller');

/** The embedded server with collector and controllers, in this process, on a clock that moves by itself. */
export async function embeddedStage(seed: number): Promise<Stage> {
  const cluster = await startCluster({ seed, controllers });
  let seen = 0;
  return {
    client: cluster.client.rest,
    hasNodes: false,
    rest: async () => {
      await cluster.settled({ advanceMs: ADVANCE_MS, timeoutMs: 60_000 });
    },
    kindsNoticed: async () => {
      await cluster.clock.advance(NOTICED_MS);
      await cluster.settled({ advanceMs: ADVANCE_MS, timeoutMs: 60_000 });
    },
    removals: () => {
      const { entries, dropped } = cluster.trace();
      const from = Math.max(0, seen - dropped);
      seen = dropped + entries.length;
      return entries
        .slice(from)
        .flatMap(({ kind, after, object }) =>
          kind === 'write' && after === undefined && object !== undefined ? [object.uid] : [],
        );
    },
    close: () => cluster.stop(),
  };
}
