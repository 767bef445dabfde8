import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerWith, refuse, resetBefore } from './faults.ts';
import { configMap, deployment, refTo, secret, type TestKind, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** References to what the server does not serve. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
  rig.serve(widget);
});
afterEach(() => rig.stop());

const inVersion = (kind: TestKind, version: string): TestKind => ({ ...kind, gvr: { ...kind.gvr, version } });
const beta = { apiVersion: 'example.com/v1beta1' };

describe('a version that is not served any more', () => {
  it('COL-118 COL-112 is never resolved: the dependent is neither deleted nor patched, and tried ever more rarely', async () => {
    await rig.startCollector();
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, beta)] });
    await rig.create(secret, 'e', { owners: [refTo(owner, { name: 'never', uid: 'never-uid' })] });
    await rig.advance(10_000);
    // COL-119: the other one has not waited.
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(widget, 'owner');
    await rig.advance(600_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    expect(rig.recorder.writes.map(({ path }) => path.split('/').at(-1))).toEqual(['e']);
    expect(rig.metrics.value('kubegc_collector_unknown_kinds')).toBe(1);
    expect(rig.metrics.value('kubegc_collector_unresolvable_references')).toBe(1);
  });

  it.each([
    { what: 'of the same group', kind: widget, apiVersion: 'example.com/v1beta1' },
    { what: 'of the group that the kind has left', kind: deployment, apiVersion: 'extensions/v1beta1' },
  ])('BETTER-12 $what is looked for in the one that is, when asked for: by uid', async ({ kind, apiVersion }) => {
    await rig.startCollector({ unservedVersions: 'otherVersion' });
    const owner = await rig.create(kind, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner, { apiVersion })] });
    await rig.create(secret, 'stale', { owners: [refTo(owner, { apiVersion, uid: 'another-uid' })] });
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(await rig.owners(secret, 'd')).toEqual(['owner']);
    await rig.delete(kind, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('BETTER-12 waits like any other owner in foreground', async () => {
    await rig.startCollector({ unservedVersions: 'otherVersion' });
    const owner = await rig.create(widget, 'owner');
    const owners = [refTo(owner, { ...beta, block: true })];
    await rig.create(secret, 'd', { owners, finalizers: ['x.io/hold'] });
    await rig.rest();
    await rig.delete(widget, 'owner', 'Foreground');
    await rig.rest();
    expect(await rig.names(widget)).toEqual(['owner']);
    await rig.patch(secret, 'd', { finalizers: null });
    await rig.rest();
    expect([await rig.names(widget), await rig.names(secret)]).toEqual([[], []]);
  });

  it.each([
    { what: 'a kind that no version of the group has', more: { kind: 'Gadget', ...beta } },
    { what: 'another group', more: { apiVersion: 'nowhere.io/v1' } },
    { what: 'an apiVersion that does not parse', more: { apiVersion: 'a/b/c' } },
  ])('BETTER-12 COL-112 COL-24F $what is as unresolvable as in Kubernetes', async ({ more }) => {
    await rig.startCollector({ unservedVersions: 'otherVersion' });
    const owner = await rig.create(widget, 'owner');
    // A server that lets such a reference through (COL-24F): this one does not, so that it is made in what it shows.
    rig.faults.on({ method: 'GET', target: /secrets/ }, async (request, next) => {
      const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
      const response = await next({ ...request, headers: { ...request.headers, accept } });
      return {
        ...response,
        body: rewritten(response.body, (text) =>
          text
            .replaceAll('"example.com/v0"', JSON.stringify(more.apiVersion))
            .replaceAll('"Thing"', `"${'kind' in more ? more.kind : 'Widget'}"`),
        ),
      };
    });
    rig.streams.cut(/secrets/);
    await rig.advance(100);
    await rig.create(secret, 'd', { owners: [refTo(owner, { apiVersion: 'example.com/v0', kind: 'Thing' })] });
    await rig.advance(60_000);
    await rig.delete(widget, 'owner');
    await rig.advance(300_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
  });

  it('COL-24F COL-235 an apiVersion that does not parse is not stored', async () => {
    const owner = await rig.create(configMap, 'owner');
    const refused = rig.create(secret, 'd', { owners: [refTo(owner, { apiVersion: 'a/b/c' })] });
    await expect(refused).rejects.toThrow(/version must not be empty/);
  });

  it.each([
    { what: 'a path that does not exist', fault: answerWith(404, '404 page not found\n') },
    { what: 'no right to look', fault: refuse(403, 'Forbidden') },
  ])('BETTER-12 BETTER-11 COL-116 $what proves nothing there either', async ({ fault }) => {
    const owner = await rig.create(widget, 'owner');
    rig.faults.on({ method: 'GET', target: /widgets\/owner/ }, fault);
    await rig.startCollector({ unservedVersions: 'otherVersion' });
    await rig.create(secret, 'd', { owners: [refTo(owner, beta)] });
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    expect(rig.recorder.writes).toEqual([]);
  });
});

describe('a definition that goes with its objects', () => {
  /** Owners of a kind that is gone before their dependents could be collected. */
  async function ownersGoneWithTheirKind(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const owner = await rig.create(widget, `o${i}`);
      await rig.create(secret, `d${i}`, { owners: [refTo(owner)] });
    }
  }

  it('COL-136 BETTER-15 of more owners than the cache holds: none of their dependents is left', async () => {
    await rig.startCollector({ absentOwners: 50 });
    await ownersGoneWithTheirKind(120);
    // Nothing can be deleted while the owners and their kind go.
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, refuse(503, 'ServiceUnavailable'));
    rig.faults.on({ method: 'GET', target: /secrets\/|widgets\// }, refuse(503, 'ServiceUnavailable'));
    for (let i = 0; i < 120; i++) await rig.delete(widget, `o${i}`);
    await rig.settle();
    rig.unserve(widget);
    await rig.advance(62_000);
    expect(await rig.names(secret)).toHaveLength(120);
    rig.faults.clear();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-136 COL-002 and comes back with it, while the server is away: discovery is read before what was seen counts', async () => {
    await rig.startCollector();
    const owner = await rig.create(widget, 'o');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const key = '/registry/example.com/widgets/default/o';
    const { kv: saved } = await rig.wait(rig.store.get(key));
    rig.faults.on({ method: 'DELETE', target: /secrets/ }, refuse(503, 'ServiceUnavailable'));
    await rig.delete(widget, 'o');
    await rig.settle();
    rig.unserve(widget);
    await rig.advance(62_000);
    rig.faults.clear();
    rig.faults.on({ target: /./ }, resetBefore);
    rig.streams.cut(/./);
    await rig.advance(5000);
    await rig.wait(rig.store.create(key, saved!.value));
    rig.serve(widget);
    rig.faults.clear();
    rig.faults.on({ target: /^\/apis?$/ }, refuse(503, 'ServiceUnavailable'));
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    rig.faults.clear();
    await rig.advance(120_000);
    expect(await rig.names(secret)).toEqual(['d']);
    await rig.delete(widget, 'o');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
  });

  it('COL-137 while no collector runs: its references stay for ever, and the metrics say so', async () => {
    await rig.startCollector();
    await ownersGoneWithTheirKind(3);
    const gone = async (): Promise<void> => {
      for (let i = 0; i < 3; i++) await rig.delete(widget, `o${i}`);
      rig.unserve(widget);
    };
    await rig.withoutCollector(gone);
    await rig.advance(600_000);
    expect(await rig.names(secret)).toHaveLength(3);
    expect(rig.recorder.writes).toEqual([]);
    expect(rig.metrics.value('kubegc_collector_unresolvable_references')).toBe(3);
    expect(rig.metrics.value('kubegc_collector_unknown_kinds')).toBe(1);
    expect(
      rig.metrics.value('kubegc_collector_long_delayed_keys', { name: 'garbage_collector_attempt_to_delete' }),
    ).toBe(3);
    // It is served again, and without those objects.
    rig.serve(inVersion(widget, 'v1'));
    await rig.advance(100_000);
    expect(await rig.names(secret)).toEqual([]);
  });
});

function rewritten(body: unknown, change: (text: string) => string): Uint8Array | AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) return Buffer.from(change(Buffer.from(body).toString()));
  return each(body as AsyncIterable<Uint8Array>, change);
}

async function* each(body: AsyncIterable<Uint8Array>, change: (text: string) => string): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield Buffer.from(change(Buffer.from(chunk).toString()));
}
