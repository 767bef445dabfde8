import { expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import { planCascade } from '../preview/preview.ts';
import { snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import { awaitCascade, type CascadeProgress } from './await-cascade.ts';
import { deleteInWaves } from './delete-in-waves.ts';

/** `early` goes in the first wave and `late` in the second; `kept` has another owner. */
function planOfTwoWaves(): CascadePlan {
  const object = (name: string, owners: string[] = []) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'shop',
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: uidOf(owner) })),
    },
  });
  const objects = [object('early'), object('late'), object('other'), object('kept', ['early', 'other'])];
  const { plan } = planCascade(snapshotOf(objects), {
    roots: [{ uid: uidOf('early') }, { uid: uidOf('late') }],
    assumeFinalizers: 'removed',
  });
  return { ...plan, roots: plan.roots.map((root, i) => ({ ...root, wave: i + 1 })) };
}

it('CAS-050 CAS-054 has one deadline for the waves and the wait after them, and counts the objects that go', async () => {
  const clock = new FakeClock();
  const startedAt = clock.monotonic();
  // `early` is gone after six seconds, and `late` stays.
  const handler = ({ method, target }: HttpRequest): Promise<HttpResponse> => {
    const name = /configmaps\/(\w+)/.exec(target)![1]!;
    const isGone = name === 'early' && clock.monotonic() - startedAt >= 6000;
    const metadata = { name, uid: uidOf(name), deletionTimestamp: '2026-01-01T00:00:00Z' };
    const body = Buffer.from(JSON.stringify(isGone ? { kind: 'Status', code: 404, reason: 'NotFound' } : { metadata }));
    return Promise.resolve({ status: isGone && method === 'GET' ? 404 : 200, headers: {}, body });
  };
  const client = new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' });
  const plan = planOfTwoWaves();
  expect(plan.objects).toHaveLength(3);
  const shown: CascadeProgress[] = [];
  const options = {
    client,
    clock,
    deadline: startedAt + 10_000,
    onProgress: (progress: CascadeProgress) => void shown.push(progress),
  };
  const ended: number[] = [];
  const work = (async () => {
    const waves = await deleteInWaves(plan, options);
    const end = await awaitCascade(plan, options);
    ended.push(clock.monotonic());
    return { waves: waves.end, end: end.end, left: end.remaining.map(({ ref }) => ref.name) };
  })();
  for (let second = 0; second < 60 && ended.length === 0; second++) await clock.advanceAsync(1000);
  expect(await work).toEqual({ waves: 'sent', end: 'timedOut', left: ['late'] });
  // The last pause before the deadline may end two seconds after it.
  expect(ended[0]! - startedAt).toBeLessThanOrEqual(12_000);
  expect(new Set(shown.map(({ total }) => total))).toEqual(new Set([2]));
});
