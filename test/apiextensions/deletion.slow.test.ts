import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { HeldAdmission } from '../../src/apiserver/test/held-admission.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { conditionOf, definition, definitions, establish, version, widget, widgets } from './definition-fixture.ts';
import { until } from '../program/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const name = 'widgets.example.com';
const path = `${definitions}/${name}`;
const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const gone = (target: string): Promise<boolean> =>
  until(`${target} is gone`, async () => ((await server.get(target)).status === 404 ? true : undefined));

const terminatingReason = async (): Promise<string | undefined> =>
  conditionOf((await server.get(path)).json, 'Terminating')?.reason;

describe('deleting a definition', () => {
  it('API-071 API-456 a definition can be changed while it waits for its objects, by all ways', async () => {
    await establish(server, definition());
    await server.post(widgets, { ...widget('held'), metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    await server.delete(path);
    const patch = { metadata: { annotations: { step: '1' } } };
    expect((await server.patch(path, patch)).status).toBe(200);
    expect((await server.patch(`${path}/status`, patch)).status).toBe(200);
    const { json } = await server.get(path);
    json.metadata!.annotations = { step: '2' };
    expect((await server.put(path, json)).status).toBe(200);
    await server.patch(`${widgets}/held`, { metadata: { finalizers: null } });
    await gone(path);
  });

  it('API-071 a definition takes finalizers without a domain, as every custom resource does', async () => {
    await establish(server, definition());
    const patched = await server.patch(path, { metadata: { finalizers: ['my-operator.example.com'] } });
    expect(patched.status).toBe(200);
    expect(patched.json.metadata?.finalizers).toEqual(['my-operator.example.com']);
  });

  it('API-456 goes through its states, and takes its objects along', async () => {
    await establish(server, definition());
    await server.post('/api/v1/namespaces', { metadata: { name: 'other' } });
    const elsewhere = widgets.replace('default', 'other');
    for (const place of [widgets, elsewhere]) await server.post(place, widget('a'));
    const { json } = await server.get(definitions);
    const watch = await server.watch(`${definitions}?watch=true&resourceVersion=${json.metadata?.resourceVersion}`);
    const objects = await server.watch('/apis/example.com/v1/widgets?watch=true');
    expect(await objects.summary(2)).toEqual(['ADDED a', 'ADDED a']);

    const deleted = await server.delete(path);
    expect(deleted.status).toBe(200);
    expect(deleted.json).toMatchObject({
      kind: 'CustomResourceDefinition',
      metadata: { deletionTimestamp: expect.any(String), finalizers: [CLEANUP], generation: 1 },
    });
    expect(conditionOf(deleted.json, 'Terminating')).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    });
    const events = await watch.take(3);
    expect(events.map(({ type, object }) => `${type} ${conditionOf(object, 'Terminating')?.reason}`)).toEqual([
      'MODIFIED InstanceDeletionPending',
      'MODIFIED InstanceDeletionInProgress',
      'DELETED InstanceDeletionInProgress',
    ]);
    expect(conditionOf(events[1]!.object, 'Terminating')?.message).toBe('CustomResource deletion is in progress');
    watch.close();
    expect(await objects.summary(3)).toEqual(['DELETED a', 'DELETED a']);
    expect((await server.get(path)).status).toBe(404);
  });

  it('API-457 while it goes nothing is created, everything else works, and discovery says so', async () => {
    await establish(server, definition());
    await server.post(widgets, widget('held', { metadata: { finalizers: ['example.com/x'] } }));
    await server.delete(path);
    const { status, json } = await server.post(widgets, widget('n'));
    expect([status, json.reason, json.message]).toEqual([
      403,
      'Forbidden',
      'widgets.example.com "n" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    const found = await server.get('/apis/example.com/v1');
    expect((found.json as unknown as { resources: { verbs: string[] }[] }).resources[0]?.verbs).toEqual([
      'delete',
      'deletecollection',
      'get',
      'list',
      'watch',
    ]);
    await until('objects are being deleted', async () => {
      const held = await server.get(`${widgets}/held`);
      return held.json.metadata?.deletionTimestamp ? true : undefined;
    });
    expect(await terminatingReason()).toBe('InstanceDeletionInProgress');
    expect((await server.patch(`${widgets}/held`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await server.patch(`${widgets}/held`, { metadata: { finalizers: null } })).status).toBe(200);
    await gone(path);
    expect((await server.get('/apis/example.com/v1')).status).toBe(404);
  });

  it('API-458 afterwards its paths are 404, its group is unknown, and watches have ended', async () => {
    await establish(server, definition());
    const watch = await server.watch(`${widgets}?watch=true`);
    await server.delete(path);
    await gone(path);
    expect(await watch.next()).toBeUndefined();
    for (const target of [
      widgets,
      `${widgets}/a`,
      '/apis/example.com/v1',
      '/apis/example.com',
      '/openapi/v3/apis/example.com/v1',
    ]) {
      expect([target, (await server.get(target)).status]).toEqual([target, 404]);
    }
    expect((await server.get('/apis')).text).not.toContain('example.com');
    expect((await server.post(widgets, widget('a'))).text).toBe('404 page not found\n');
  });

  it('API-456 one that was never established goes at once', async () => {
    await establish(server, definition());
    await server.post(
      definitions,
      definition({ names: { plural: 'others', singular: 'widget', kind: 'Other', listKind: 'OtherList' } }),
    );
    const { json } = await server.get(definitions);
    const watch = await server.watch(`${definitions}?watch=true&resourceVersion=${json.metadata?.resourceVersion}`);
    await server.delete(`${definitions}/others.example.com`);
    for (;;) {
      const event = await watch.next();
      if (event?.type !== 'DELETED') continue;
      expect(conditionOf(event.object, 'Established')?.status).not.toBe('True');
      break;
    }
    watch.close();
    expect((await server.get(path)).status).toBe(200);
  });

  it('API-456 finalizers of others hold it after its objects are gone', async () => {
    await establish(server, definition({ metadata: { finalizers: ['example.com/mine'] } }));
    await server.post(widgets, widget('a'));
    await server.delete(path);
    const json = await until('its own finalizer is gone', async () => {
      const answer = await server.get(path);
      return answer.json.metadata?.finalizers?.includes(CLEANUP) === false ? answer.json : undefined;
    });
    expect(json.metadata?.finalizers).toEqual(['example.com/mine']);
    expect(conditionOf(json, 'Terminating')).toMatchObject({
      status: 'False',
      reason: 'InstanceDeletionCompleted',
      message: 'removed all instances',
    });
    expect((await server.post(widgets, widget('a'))).status).toBe(403);
    await server.patch(path, { metadata: { finalizers: null } });
    expect((await server.get(path)).status).toBe(404);
  });

  it('API-456 dry run changes nothing', async () => {
    await establish(server, definition());
    expect((await server.request('DELETE', `${path}?dryRun=All`)).json.metadata?.finalizers).toEqual([CLEANUP]);
    expect((await server.get(path)).json.metadata?.deletionTimestamp).toBeUndefined();
    expect((await server.post(widgets, widget('a'))).status).toBe(201);
  });

  it('API-456 objects of a built-in resource of that name are not its to delete', async () => {
    const names = {
      plural: 'ingressclasses',
      singular: 'ingressclass',
      kind: 'IngressClass',
      listKind: 'IngressClassList',
    };
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    const classes = '/apis/networking.k8s.io/v1/ingressclasses';
    await establish(
      server,
      definition({ group: 'networking.k8s.io', scope: 'Cluster', names, metadata: { annotations } }),
    );
    expect(
      (await server.post(classes, { metadata: { name: 'a' }, spec: { controller: 'x.io/y', odd: 1 } })).json['spec'],
    ).toEqual({ controller: 'x.io/y' });
    await server.delete(`${definitions}/ingressclasses.networking.k8s.io`);
    await gone(`${definitions}/ingressclasses.networking.k8s.io`);
    expect((await server.get(`${classes}/a`)).status).toBe(200);
  });

  it('many objects, some with finalizers, all at once', async () => {
    await establish(server, definition());
    const names = Array.from({ length: 150 }, (_, index) => `w${index}`);
    await Promise.all(
      names.map((each, index) =>
        server.post(widgets, widget(each, index % 25 === 0 ? { metadata: { finalizers: ['example.com/x'] } } : {})),
      ),
    );
    await server.delete(path);
    await until('only the held ones are left', async () =>
      (await server.get(widgets)).json.items.length === 6 ? true : undefined,
    );
    await Promise.all(
      names
        .filter((_, index) => index % 25 === 0)
        .map((each) => server.patch(`${widgets}/${each}`, { metadata: { finalizers: null } })),
    );
    await gone(path);
  });
});

const schema = (field: string): KubeObject =>
  definition({ versions: [version({ schema: { type: 'object', properties: { [field]: { type: 'string' } } } })] });

describe('API-456 API-457 a create that its definition does not outlive', () => {
  const deleteDefinition = async (): Promise<void> => {
    await server.delete(path);
    await gone(path);
  };

  const change = async (): Promise<void> => {
    const { versions } = schema('b')['spec'] as { versions: object };
    expect((await server.patch(path, { spec: { versions } })).status).toBe(200);
  };

  it.each<readonly [string, () => Promise<void>]>([
    ['is removed', deleteDefinition],
    [
      'is changed and then removed',
      async () => {
        await change();
        await deleteDefinition();
      },
    ],
    [
      'is removed and made again',
      async () => {
        await deleteDefinition();
        await establish(server, schema('b'));
      },
    ],
  ])('leaves nothing when the definition %s in between', async (_what, happens) => {
    const held = new HeldAdmission('CREATE', 'widgets');
    server = await startTestServer({ admission: [held.plugin] });
    await establish(server, schema('a'));
    const late = server.post(widgets, widget('n', { metadata: { finalizers: ['example.com/x'] } }));
    await held.reached;
    await happens();
    held.release();
    const { status, json } = await late;
    expect([status, json.message]).toEqual([
      403,
      'widgets.example.com "n" is forbidden: create not allowed while custom resource definition is terminating',
    ]);
    expect((await server.store.list('/registry/example.com/widgets/')).items).toEqual([]);
  });

  it('is refused while the definition waits for others, and leaves those alone', async () => {
    const held = new HeldAdmission('CREATE', 'gadgets');
    server = await startTestServer({ admission: [held.plugin] });
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
    await establish(server, definition({ names }));
    const gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
    const gadget = (of: string): KubeObject => ({
      ...widget(of, { metadata: { finalizers: ['example.com/x'] } }),
      kind: 'Gadget',
    });
    const late = server.post(gadgets, gadget('n'));
    await held.reached;
    expect((await server.post(gadgets, gadget('other'))).status).toBe(201);
    await server.delete(`${definitions}/gadgets.example.com`);
    held.release();
    expect((await late).status).toBe(403);
    expect((await server.store.list('/registry/example.com/gadgets/')).items.map(({ key }) => key)).toEqual([
      '/registry/example.com/gadgets/default/other',
    ]);
  });

  it('goes on when the definition is only changed', async () => {
    const held = new HeldAdmission('CREATE', 'widgets');
    server = await startTestServer({ admission: [held.plugin] });
    await establish(server, schema('a'));
    const late = server.post(widgets, widget('n'));
    await held.reached;
    await change();
    held.release();
    expect((await late).status).toBe(201);
    expect((await server.get(`${widgets}/n`)).status).toBe(200);
  });
});

describe('coming back', () => {
  it('API-458 a definition of the same name, with another schema', async () => {
    await establish(server, schema('a'));
    await server.post(widgets, widget('w', { a: 'x', b: 'y' }));
    await server.delete(path);
    await gone(path);
    await establish(server, schema('b'));
    expect((await server.get(widgets)).json.items).toEqual([]);
    const { json } = await server.post(widgets, widget('w', { a: 'x', b: 'y' }));
    expect([json['a'], json['b']]).toEqual([undefined, 'y']);
    expect((await server.get(`${widgets}/w`)).json).toEqual(json);
  });

  it('API-456 a DELETE means the definition it found, not a later one of that name', async () => {
    const held = new HeldAdmission('DELETE', 'customresourcedefinitions');
    server = await startTestServer({ admission: [held.plugin] });
    const first = await establish(server, schema('a'));
    const late = server.delete(path);
    await held.reached;
    await server.delete(path);
    await gone(path);
    const second = await establish(server, schema('b'));
    await server.post(widgets, widget('w', { b: 'y' }));
    held.release();
    const { status, json } = await late;
    expect([status, json.message]).toEqual([
      409,
      `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "${name}": precondition failed: UID in precondition: ${first.metadata?.uid}, UID in object meta: ${second.metadata?.uid}`,
    ]);
    expect((await server.get(path)).json.metadata?.deletionTimestamp).toBeUndefined();
    expect((await server.get(`${widgets}/w`)).json['b']).toBe('y');
  });

  it('API-153 not while the old one is going', async () => {
    await establish(server, schema('a'));
    await server.post(widgets, widget('w', { metadata: { finalizers: ['example.com/x'] } }));
    await server.delete(path);
    const { status, json } = await server.post(definitions, schema('b'));
    expect([status, json.message]).toEqual([
      409,
      `object is being deleted: customresourcedefinitions.apiextensions.k8s.io "${name}" already exists`,
    ]);
  });

  it('API-454 after a restart everything is served again, and deletions go on', async () => {
    const store = openMemoryStore({ clock: systemClock });
    server = await startTestServer({ store });
    await establish(server, schema('a'));
    await establish(
      server,
      definition({ names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' } }),
    );
    await server.post(widgets, widget('w', { a: 'x' }));
    const gadgets = '/apis/example.com/v1/namespaces/default/gadgets';
    await server.post(gadgets, { ...widget('g', { metadata: { finalizers: ['example.com/x'] } }), kind: 'Gadget' });
    await server.delete(`${definitions}/gadgets.example.com`);
    await server.server.stop();

    server = await startTestServer({ store, seed: 2 });
    expect((await server.get(`${widgets}/w`)).json['a']).toBe('x');
    expect((await server.get('/apis/example.com/v1')).text).toContain('"gadgets"');
    expect((await server.post(gadgets, { ...widget('h'), kind: 'Gadget' })).status).toBe(403);
    await server.patch(`${gadgets}/g`, { metadata: { finalizers: null } });
    await gone(`${definitions}/gadgets.example.com`);
    expect((await server.post(widgets, widget('v', { a: 'y' }))).status).toBe(201);
  });

  it('API-454 what another server defines is served here too', async () => {
    const store = openMemoryStore({ clock: systemClock });
    server = await startTestServer({ store });
    const other = await startTestServer({ store, seed: 2 });
    await establish(other, schema('a'));
    await until('it is served', async () => ((await server.get(widgets)).status === 200 ? true : undefined));
    expect((await server.post(widgets, widget('w', { a: 'x' }))).status).toBe(201);
    await other.delete(path);
    await gone(path);
    expect((await server.get(widgets)).status).toBe(404);
  });
});
