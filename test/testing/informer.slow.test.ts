import { describe, expect, it } from 'vitest';
import {
  type ClusterOptions,
  type FaultRule,
  StatusError,
  startCluster,
  type TestCluster,
} from '../../src/testing/testing.ts';
import { tree } from './tree.ts';

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const secrets = { apiVersion: 'v1', kind: 'Secret' };
const operator = 'my-operator';

/** How many requests the operator has sent so far. */
function requestsOf(cluster: TestCluster): () => number {
  let sent = 0;
  cluster.faults.add({
    match: ({ who }) => {
      if (who === operator) sent++;
      return false;
    },
    drop: 'request',
  });
  return () => sent;
}

describe('an informer of a cluster', () => {
  it('puts what a handler throws into the trace, under the name of its operator', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const informer = await cluster.informer(secrets, operator);
    informer.addHandler({
      added: () => {
        throw new Error('bug');
      },
    });
    expect(cluster.trace().entries.at(-1)).toMatchObject({ kind: 'trouble', who: operator });
    expect(String(cluster.trace())).toContain('an informer handler failed | bug');
  });

  it('rejects with the refusal of the server, and asks no more', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const sent = requestsOf(cluster);
    const refused: unknown = await cluster
      .informer({ ...secrets, labelSelector: 'a in b' }, operator)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StatusError);
    expect(refused).toMatchObject({ code: 400, reason: 'BadRequest' });
    const before = sent();
    await cluster.clock.advance(600_000);
    expect(sent()).toBe(before);
  });

  it.each([400, 405, 422])('rejects with an answer that time does not mend: %i', async (status) => {
    await using cluster = await startCluster({ controllers: [] });
    cluster.faults.add({ match: { who: operator }, answer: { status } });
    await expect(cluster.informer(secrets, operator)).rejects.toThrow(`answered by a fault rule with ${status}`);
  });

  it('syncs when it is begun, then time passes, then it is awaited', async () => {
    await using cluster = await startCluster({ objects: tree() });
    cluster.faults.add({ match: { who: operator }, times: 1, answer: { status: 503 } });
    cluster.faults.add({ match: { who: operator }, times: 1, delay: 500 });
    const begun = cluster.informer(secrets, operator);
    await cluster.clock.advance(60_000);
    expect((await begun).get('default/dependent')).toBeDefined();
    expect(String(cluster.trace())).toContain('answered by a fault rule with 503');
  });

  it('rejects with what is missing when it does not come to its first sync, and asks no more', async () => {
    const hint =
      'nothing is tried again while the clock stands still: ' +
      'begin `cluster.informer(…)`, call `cluster.clock.advance(ms)`, then await it';
    const failed = 'the last failure: answered by a fault rule with 503';
    const unanswered = 'nothing was answered yet';
    type Case = Required<Pick<ClusterOptions, 'clock'>> & Omit<FaultRule, 'match'> & { readonly message: string };
    const cases: readonly Case[] = [
      { clock: 'fake', answer: { status: 503 }, message: `${failed}; ${hint}` },
      { clock: 'fake', delay: 1, message: `${unanswered}; ${hint}` },
      { clock: 'real', answer: { status: 503 }, message: failed },
      { clock: 'real', delay: 3_600_000, message: unanswered },
    ];
    const check = async ({ clock, message, ...rule }: Case): Promise<void> => {
      await using cluster = await startCluster({ clock, controllers: [] });
      const sent = requestsOf(cluster);
      cluster.faults.add({ match: { who: operator }, ...rule });
      const error: unknown = await cluster.informer(configMaps, operator).catch((reason: unknown) => reason);
      expect((error as Error).message).toBe(`the informer of configmaps has not synced within 5000 ms, ${message}`);
      const before = sent();
      expect(before).toBeGreaterThan(0);
      if (clock === 'fake') await cluster.clock.advance(600_000);
      await cluster.settled();
      expect(cluster.faults.held).toBe(0);
      expect(sent()).toBe(before);
    };
    // At once, for each takes its five seconds.
    await Promise.all(cases.map(check));
  });

  it('is one of as many as the operators of a test need, without a warning of a leak', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    try {
      await using cluster = await startCluster();
      const informers = await Promise.all(Array.from({ length: 200 }, () => cluster.informer(secrets, operator)));
      await cluster.client.create({ ...secrets, metadata: { name: 'seen-by-all' } });
      await cluster.settled();
      expect(informers.filter((informer) => informer.get('default/seen-by-all') === undefined)).toEqual([]);
    } finally {
      process.off('warning', note);
    }
    expect(warnings).toEqual([]);
  });

  it('ends with the cluster also before its first sync', async () => {
    const cluster = await startCluster({ controllers: [] });
    cluster.faults.add({ match: { who: operator }, drop: 'request' });
    const begun = expect(cluster.informer(configMaps, operator)).rejects.toMatchObject({ name: 'AbortError' });
    await cluster.settled();
    await cluster.stop();
    await begun;
  });
});
