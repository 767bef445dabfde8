import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { listLocalApiVersions } from './list-local-api-versions.ts';

const gvr = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' };
const signal = new AbortController().signal;

/** A client of a server with these pages. Each page is a list of names, each with the value of its label. */
function clientOf(...pages: readonly (readonly (readonly [string, string?])[])[]) {
  const targets: string[] = [];
  const transport = inProcessTransport(({ target }) => {
    targets.push(target);
    const page = pages[targets.length - 1];
    const items = page?.map(([name, value]) => ({
      metadata: { name, ...(value && { labels: { 'kube-aggregator.kubernetes.io/automanaged': value } }) },
    }));
    const metadata = { resourceVersion: '7', continue: targets.length < pages.length ? `page ${targets.length}` : '' };
    const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items };
    const status = { kind: 'Status', apiVersion: 'v1', code: 403, reason: 'Forbidden', message: 'no' };
    return Promise.resolve({
      status: items === undefined ? 403 : 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(items === undefined ? status : list)),
    });
  });
  return { client: new RestClient({ transport, clock: new FakeClock(), userAgent: 'test' }), targets };
}

it('COL-116 finds the apiVersions that kube-apiserver registered itself, on every page, and no other', async () => {
  const { client, targets } = clientOf(
    [['v1.', 'onstart'], ['v1.apps', 'onstart'], ['v1beta1.metrics.k8s.io']],
    [
      ['v1.example.com', 'true'],
      ['v2.sharded.example.com', 'false'],
    ],
  );
  const local = await listLocalApiVersions({ client, signal }, gvr);
  expect([...local]).toEqual(['v1', 'apps/v1', 'example.com/v1']);
  expect(targets).toHaveLength(2);
});

it('COL-116 rejects when the APIServices may not be listed', async () => {
  await expect(listLocalApiVersions({ client: clientOf().client, signal }, gvr)).rejects.toThrow('no');
});
