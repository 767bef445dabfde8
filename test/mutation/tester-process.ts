import { Tester, type Trial } from './tester.ts';
import type { Outcome } from './verdict.ts';

// One of the processes of run.ts: is sent trials, one at a time, and answers each with its Outcome. It ends with run.ts.

/**
 * Seconds of processor time for a trial. A fault may keep the thread of the tests busy for ever, so that no timeout of a test is noticed. A
 * trial that only waits is ended by those timeouts; and a machine with much else to do makes nothing late.
 */
const limitSeconds = Number(process.argv[2]);

const tester = await Tester.open(process.argv.slice(3));
const answer = (outcome: Outcome, then?: () => void): void => {
  process.send?.(outcome, undefined, undefined, then);
};
process.on('message', async (trial: Trial) => {
  const since = process.cpuUsage();
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(since);
    if ((user + system) / 1e6 <= limitSeconds) return;
    clearInterval(watch);
    answer({ outcome: 'broken', why: `the tests did not end within ${limitSeconds} s of processor time` }, () =>
      process.exit(1),
    );
  }, 1000);
  try {
    answer(await tester.run(trial));
  } catch (error) {
    answer({ outcome: 'broken', why: String(error) });
  } finally {
    clearInterval(watch);
  }
});
process.on('disconnect', () => process.exit());
