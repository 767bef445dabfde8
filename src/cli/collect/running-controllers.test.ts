import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { watchRunning } from './running-controllers.ts';

/** Watches a server that runs these controllers: one list of controllers for each request. */
function watching(answers: string[][], signal: AbortSignal) {
  const clock = new FakeClock();
  const client = new RestClient({
    transport: {
      send: () =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: Buffer.from(JSON.stringify({ controllers: answers.shift() ?? [] })),
        }),
      close: () => Promise.resolve(),
    },
    clock,
    userAgent: 'test',
  });
  const controllers = new Set(['job-controller']);
  return { clock, watch: watchRunning({ client, clock, controllers, server: 'https://k:6443' }, signal) };
}

it('stops with an error when the server is started anew with one of the controllers', async () => {
  const answers = [[], [], ['job-controller', 'podgc']];
  const { clock, watch } = watching(answers, new AbortController().signal);
  const failed = expect(watch).rejects.toThrow('https://k:6443 is kubegc and runs job-controller itself');
  await clock.advanceAsync(30_000);
  await failed;
  expect(answers).toEqual([]);
});

it('ends without an error and without a question when it is aborted', async () => {
  const stop = new AbortController();
  const answers = [['job-controller']];
  const { clock, watch } = watching(answers, stop.signal);
  stop.abort();
  await watch;
  expect([answers.length, clock.pendingTimers]).toEqual([1, 0]);
});
