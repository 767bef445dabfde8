import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { CombinedVerdict, type EmbeddedCollector, watchEmbeddedCollector } from './embedded-collector.ts';
import type { OtherCollector } from './other-collector.ts';

async function seen(...statuses: number[]): Promise<{ seen: EmbeddedCollector[]; paths: string[] }> {
  const clock = new FakeClock();
  const paths: string[] = [];
  const transport = inProcessTransport(({ method, target }) => {
    paths.push(`${method} ${target}`);
    const status = statuses[Math.min(paths.length, statuses.length) - 1] ?? 200;
    return Promise.resolve({ status, headers: {}, body: Buffer.from('x') });
  });
  const client = new RestClient({ transport, clock, userAgent: 'test' });
  const stop = new AbortController();
  const reports: EmbeddedCollector[] = [];
  const done = watchEmbeddedCollector({ client, clock }, stop.signal, (embedded) => void reports.push(embedded));
  await clock.advanceAsync(10_000 * (statuses.length - 1) + 1);
  stop.abort();
  await done;
  return { seen: reports, paths };
}

it('COL-204 a server that serves the debug page of a collector runs one, and is asked with a GET alone', async () => {
  const { seen: reports, paths } = await seen(200);
  expect(reports).toEqual(['runs']);
  expect(new Set(paths)).toEqual(new Set(['GET /debug/controllers/garbage-collector-controller/']));
});

it('COL-204 a server that knows no such page runs none, and one that refuses it is not known', async () => {
  expect((await seen(404)).seen).toEqual(['absent']);
  expect((await seen(403)).seen).toEqual(['unknown']);
});

it('COL-204 a server that fails for a moment has not lost its collector', async () => {
  expect((await seen(200, 503, 200, 404)).seen).toEqual(['runs', 'absent']);
});

it('COL-204 nothing is reported before both are known, and a collector inside the server counts first', () => {
  const reports: string[] = [];
  const verdicts = new CombinedVerdict(({ runs, why }: OtherCollector) => void reports.push(`${runs} ${why}`));
  verdicts.elsewhere({ runs: 'no', why: 'asked' });
  expect(reports).toEqual([]);
  verdicts.embedded('unknown');
  verdicts.embedded('runs');
  verdicts.elsewhere({ runs: 'no', why: 'probeKept' });
  verdicts.embedded('absent');
  expect(reports).toEqual(['no asked', 'yes embedded', 'no probeKept']);
});
