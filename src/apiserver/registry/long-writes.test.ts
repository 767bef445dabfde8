import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_OBJECT_MEMBERS } from '../../api/codec/json/body-values.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../test/test-server.ts';

describe('API-007 writes of large objects', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });

  /** Turns of the event loop until the work is done. */
  async function turnsOf(work: Promise<unknown>): Promise<number> {
    const progress = { done: false, turns: 0 };
    void work.finally(() => (progress.done = true));
    while (!progress.done) {
      progress.turns++;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await work;
    return progress.turns;
  }

  it('yield the event loop between their steps, and those of small ones do not', async () => {
    const named = (name: string, size: number): object => ({ ...configMap(name), data: { text: 'x'.repeat(size) } });
    await server.post(configMaps, named('first', 1));
    const [small, large] = [
      await turnsOf(server.post(configMaps, named('small', 1))),
      await turnsOf(server.post(configMaps, named('large', 100_000))),
    ];
    expect(large).toBeGreaterThanOrEqual(small + 7);
  });

  it('by patch may not make an object that no body may hold, unless there is one already', async () => {
    const keys = (prefix: string, count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, '']));
    await server.post(configMaps, { ...configMap('a'), data: keys('a', MAX_OBJECT_MEMBERS) });
    const { status, json } = await server.patch(`${configMaps}/a`, { data: { b: '' } });
    expect([status, json.message]).toEqual([413, 'Request entity too large: limit is 10000 members in one object']);
    const changed = await server.patch(`${configMaps}/a`, { data: { a0: null, b: '' } });
    expect(changed.status).toBe(200);
  });
});
