import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { ResumedWatches } from './resumed-watches.ts';

const offered = (resource: string) => ({
  group: '',
  version: 'v1',
  resource,
  kind: resource,
  namespaced: true,
  verbs: [],
});

/** `answers`: the versions that the server answers with, in order; an error is a request without an answer. */
function setUp(...answers: readonly (number | Error)[]) {
  const clock = new FakeClock();
  const asked: { readonly resource: string; readonly at: number }[] = [];
  const older: string[] = [];
  const watches = new ResumedWatches({
    clock,
    logger: silentLogger,
    ask: async ({ resource }) => {
      const answer = answers[asked.length] ?? new Error('no answer');
      asked.push({ resource, at: clock.monotonic() });
      await new Promise<void>((resolve) => clock.setTimer(100, resolve));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const add = (resource: string, version: number): void =>
    watches.add({ offered: offered(resource), version, onOlder: () => void older.push(resource) });
  return { clock, watches, add, asked, older, resources: () => asked.map(({ resource }) => resource) };
}

describe('ResumedWatches', () => {
  it('COL-111 COL-002 reports a server that is older than a watch that goes on', async () => {
    const { clock, add, older, resources } = setUp(300);
    add('secrets', 900);
    await clock.advanceAsync(60_000);
    expect([resources(), older]).toEqual([['secrets'], ['secrets']]);
  });

  it.each([900, 901, Number.NaN])('says nothing of a server at %d, and asks no more', async (version) => {
    const { clock, add, older, resources } = setUp(version);
    add('secrets', 900);
    await clock.advanceAsync(60_000);
    expect([resources(), older]).toEqual([['secrets'], []]);
  });

  it('law 5: asks once for all that came back, about the one with the highest version', async () => {
    const { clock, add, older, resources } = setUp(500);
    add('secrets', 400);
    add('configmaps', 600);
    add('pods', 500);
    await clock.advanceAsync(60_000);
    expect([resources(), older]).toEqual([['configmaps'], ['configmaps']]);
  });

  it('law 5: asks at most every ten seconds, one question at a time, and again after one without an answer', async () => {
    const { clock, add, asked, older } = setUp(1000, new Error('away'), 300);
    for (let i = 0; i < 25; i++) {
      if (i < 15) add(`r${i}`, 900);
      await clock.advanceAsync(1000);
    }
    expect(asked.map(({ at }) => at - asked[0]!.at)).toEqual([0, 10_000, 20_000]);
    expect(older).toHaveLength(1);
  });

  it('COL-111 COL-002 asks again after a question without an answer, although no other watch comes back', async () => {
    const { clock, add, asked, older } = setUp(new Error('away'), new Error('away'), 300);
    add('secrets', 900);
    await clock.advanceAsync(60_000);
    expect([asked.map(({ at }) => at), older]).toEqual([[0, 10_000, 20_000], ['secrets']]);
  });

  it('COL-048 does not ask about a watch that has shown something, and does not report it', async () => {
    const { clock, watches, add, older, resources } = setUp(300);
    add('secrets', 900);
    watches.forget(offered('secrets'));
    await clock.advanceAsync(60_000);
    expect(resources()).toEqual([]);
    add('secrets', 900);
    await clock.advanceAsync(50);
    watches.forget(offered('secrets'));
    await clock.advanceAsync(60_000);
    expect([resources(), older]).toEqual([['secrets'], []]);
  });

  it('COL-111 COL-002 asks about the next watch if the one that it asked about is over', async () => {
    const { clock, watches, add, older, asked } = setUp(300, 300);
    add('secrets', 900);
    add('configmaps', 800);
    add('pods', 200);
    await clock.advanceAsync(50);
    watches.forget(offered('secrets'));
    await clock.advanceAsync(60_000);
    expect(asked).toEqual([
      { resource: 'secrets', at: 0 },
      { resource: 'configmaps', at: 10_000 },
    ]);
    expect(older).toEqual(['configmaps']);
  });

  it('asks about no version that is no number, and nothing once it is stopped', async () => {
    const { clock, watches, add, resources } = setUp(300);
    add('secrets', Number.NaN);
    await clock.advanceAsync(1000);
    await watches.stop();
    add('secrets', 900);
    await clock.advanceAsync(60_000);
    expect(resources()).toEqual([]);
  });
});
