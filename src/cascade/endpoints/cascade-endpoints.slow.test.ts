import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { startCluster } from '../../testing/testing.ts';
import { CascadeEndpoints } from './cascade-endpoints.ts';

it.each(['graph', 'graph?object=configmaps/settings', 'preview?object=configmaps/settings'])(
  'CAS-081 ends the work of GET %s when its caller goes away',
  async (path) => {
    await using cluster = await startCluster({ controllers: [] });
    const metadata = { name: 'settings', namespace: 'default' };
    await cluster.client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const caller = new AbortController();
    setMaxListeners(0, caller.signal);
    const client = cluster.client.rest.through((request, next) => {
      // The lists are under way.
      if (request.target.startsWith('/api/v1/configmaps')) caller.abort();
      return next(request);
    });
    const endpoints = new CascadeEndpoints({ clientOf: () => client, clock: systemClock, warmGraph: () => undefined });
    const asked = (signal?: AbortSignal) =>
      endpoints.handle(
        { method: 'GET', target: `/kubegc/v1/${path}`, headers: {}, signal },
        { username: 'ann', groups: [] },
      );
    await expect(asked(caller.signal)).rejects.toThrow('aborted');
    expect(await asked()).toMatchObject({ status: 200 });
  },
);
