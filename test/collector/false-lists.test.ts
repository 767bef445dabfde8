import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { refuse, statusBody, answer } from './faults.ts';
import { apiService, configMap, refTo, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Answers of the right form that are not true (COL-116). */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.collecting({ collector: { workers: 'always' } });
});
afterEach(() => rig.stop());

/** The next list of ConfigMaps has nothing in it, as of a replica that lost its data, and the watch goes on from there. */
async function listNothing(times = 1): Promise<void> {
  rig.faults.on({ target: /configmaps\?.*resourceVersion=\d/ }, refuse(410, 'Expired'), 1);
  rig.faults.on({ target: /configmaps\?.*sendInitialEvents=true/ }, refuse(422, 'Invalid'), times);
  rig.faults.on({ target: /configmaps\?(?!.*watch=true)/ }, emptyList, times);
  rig.streams.cut(/configmaps/);
  await rig.advance(20_000);
}

async function emptyList(_request: HttpRequest): Promise<ReturnType<typeof answer>> {
  const { metadata } = await rig.client.list({ gvr: configMap.gvr }, { query: { limit: 1 } });
  const { resourceVersion } = metadata;
  const kind = 'PartialObjectMetadataList';
  return answer(200, { kind, apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion }, items: null });
}

/** See `list-local-api-versions.ts`. */
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';

const writes = (): string[] =>
  rig.recorder.writes.filter(({ path }) => !path.includes('/events')).map(({ path }) => path);

describe('an empty list of a kind', () => {
  it('COL-002 COL-047 deletes nothing: each owner with dependents is read, once, and the kind is listed anew', async () => {
    for (const name of ['a', 'b', 'c']) {
      const owner = await rig.create(configMap, name);
      await rig.create(secret, name, { owners: [refTo(owner)] });
    }
    await rig.create(configMap, 'free');
    await rig.rest();
    rig.recorder.clear();
    await listNothing();
    await rig.rest();
    expect([writes(), await rig.names(secret)]).toEqual([[], ['a', 'b', 'c']]);
    expect(rig.recorder.counts).toEqual({ GET: 3 });
    // It is known again, and collected when it goes.
    await rig.delete(configMap, 'a');
    await rig.rest();
    expect(await rig.names(secret)).toEqual(['b', 'c']);
  });

  it('COL-116 reads nothing either when it lacks fifty objects, and says so; a second list puts it right', async () => {
    for (let i = 0; i < 50; i++) await rig.create(configMap, `o${i}`);
    const owner = await rig.create(configMap, 'owner');
    const { items } = await rig.wait(rig.client.list({ gvr: configMap.gvr }));
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.recorder.clear();
    // Even if reads say the same.
    rig.faults.on({ method: 'GET', target: /configmaps\/owner/ }, () =>
      Promise.resolve(answer(404, statusBody(404, 'NotFound', { details: { name: 'owner', kind: 'configmaps' } }))),
    );
    rig.faults.on({ target: /configmaps\?.*resourceVersion=\d/ }, refuse(410, 'Expired'), 1);
    rig.faults.on({ target: /configmaps\?.*sendInitialEvents=true/ }, refuse(422, 'Invalid'), 1);
    rig.faults.on({ target: /configmaps\?(?!.*watch=true)/ }, emptyList, 1);
    rig.streams.cut(/configmaps/);
    await rig.advance(9000);
    expect([writes(), rig.recorder.counts['GET'] ?? 0]).toEqual([[], 0]);
    expect(rig.metrics.value('kubegc_collector_held_absences')).toBe(items.length);
    expect(rig.logger.lines.filter(({ fields }) => fields['reason'] === 'VanishedObjectsNotBelieved')).toHaveLength(1);
    await rig.advance(30_000);
    await rig.rest();
    expect([writes(), await rig.names(secret)]).toEqual([[], ['d']]);
    expect(rig.metrics.value('kubegc_collector_held_absences')).toBe(0);
  });

  it('COL-047 that is true is believed after a second one and a read of each owner', async () => {
    for (let i = 0; i < 50; i++) await rig.create(configMap, `o${i}`);
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    rig.recorder.clear();
    rig.faults.on({ target: /configmaps\?.*resourceVersion=\d/ }, refuse(410, 'Expired'), 1);
    rig.streams.cut(/configmaps/);
    await rig.wait(rig.client.deleteCollection({ gvr: configMap.gvr, namespace: 'default' }));
    await rig.advance(9000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.advance(30_000);
    await rig.rest();
    expect([await rig.names(secret), rig.recorder.counts]).toEqual([[], { GET: 1, DELETE: 1, POST: 1 }]);
  });
});

describe('a wrong 404', () => {
  it('COL-116 about a dependent that its watch shows is asked again, and does not make it forgotten', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    await rig.rest();
    const absent = answer(404, statusBody(404, 'NotFound', { details: { name: 'd', kind: 'secrets' } }));
    rig.faults.on({ target: /secrets\/d/ }, () => Promise.resolve(absent), 4);
    await rig.delete(configMap, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it.each([
    ['ConfigMap', configMap, []],
    ['custom resource, whose APIService kube-apiserver registered itself', widget, ['true']],
  ])(
    'COL-116 of a replica that lags behind the dependent proves nothing about an owner: %s',
    async (_, kind, labels) => {
      await rig.stop();
      rig = await Rig.start();
      rig.serve(widget);
      rig.serve(apiService);
      for (const label of labels) await rig.create(apiService, 'v1.example.com', { labels: { [MANAGED]: label } });
      const owner = await rig.create(kind, 'owner');
      const { resource } = kind.gvr;
      // The watch of the owner shows nothing, and the server that is read has not heard of it yet.
      rig.faults.on({ target: new RegExp(`${resource}\\?`) }, refuse(503, 'ServiceUnavailable'));
      const lagging = (request: HttpRequest): Promise<ReturnType<typeof answer>> => {
        const wanted = Number(new URL(request.target, 'http://s').searchParams.get('resourceVersion') ?? 0);
        const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
        if (wanted > Number(owner.metadata?.resourceVersion) - 1)
          return Promise.resolve(answer(504, statusBody(504, 'Timeout', { details })));
        return Promise.resolve(
          answer(404, statusBody(404, 'NotFound', { details: { name: 'owner', kind: resource } })),
        );
      };
      rig.faults.on({ method: 'GET', target: new RegExp(`${resource}/owner`) }, lagging);
      await rig.create(secret, 'd', { owners: [refTo(owner)] });
      await rig.startCollector({ initialSyncTimeoutMs: 1000 });
      await rig.advance(60_000);
      expect([writes(), await rig.names(secret)]).toEqual([[], ['d']]);
    },
  );
});
