import { describe, expect, it } from 'vitest';
import { HeldAdmission } from '../../src/apiserver/test/held-admission.ts';
import { startTestServer } from '../../src/apiserver/test/test-server.ts';
import type { Store, StoreWatch, WatchOptions } from '../../src/apiserver/storage/interface.ts';
import { encodeStored } from '../../src/apiserver/storage/stored-object.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { conditionOf, definition, definitions, establish, widget, widgets } from './definition-fixture.ts';
import { until } from '../program/until.ts';

/** A store that fails where the test says. */
class FaultyStore implements Store {
  readonly #store = openMemoryStore({ clock: systemClock });
  /** Throws, or not. */
  fault: (call: 'update' | 'delete', key: string) => void = () => undefined;
  readonly watches: { readonly prefix: string; readonly options: WatchOptions; readonly watch: StoreWatch }[] = [];

  readonly get = this.#store.get.bind(this.#store);
  readonly list = this.#store.list.bind(this.#store);
  readonly create = this.#store.create.bind(this.#store);
  readonly currentRevision = this.#store.currentRevision.bind(this.#store);
  readonly compact = this.#store.compact.bind(this.#store);
  readonly close = this.#store.close.bind(this.#store);

  async update(key: string, value: Uint8Array, expected: number): ReturnType<Store['update']> {
    this.fault('update', key);
    return this.#store.update(key, value, expected);
  }

  async delete(key: string, expected: number): ReturnType<Store['delete']> {
    this.fault('delete', key);
    return this.#store.delete(key, expected);
  }

  async watch(prefix: string, options: WatchOptions): Promise<StoreWatch> {
    const watch = await this.#store.watch(prefix, options);
    this.watches.push({ prefix, options, watch });
    return watch;
  }
}

const name = 'widgets.example.com';

describe('when the store fails', () => {
  it('API-453 a definition is established later', async () => {
    const store = new FaultyStore();
    const server = await startTestServer({ store });
    let failures = 0;
    store.fault = (call, key) => {
      if (call === 'update' && key.includes('customresourcedefinitions') && failures++ < 2) throw new Error('no room');
    };
    await establish(server, definition());
    expect(failures).toBeGreaterThan(2);
    await server.server.stop();
  });

  it('API-456 objects are deleted later, and until then the condition says why not', async () => {
    const store = new FaultyStore();
    const server = await startTestServer({ store });
    await establish(server, definition());
    await server.post(widgets, widget('a'));
    let broken = true;
    store.fault = (call, key) => {
      if (broken && call === 'delete' && key.includes('/widgets/')) throw new Error('no room');
    };
    await server.delete(`${definitions}/${name}`);
    const json = await until('the condition tells', async () => {
      const answer = await server.get(`${definitions}/${name}`);
      return conditionOf(answer.json, 'Terminating')?.reason === 'InstanceDeletionFailed' ? answer.json : undefined;
    });
    expect(conditionOf(json, 'Terminating')?.message).toContain('could not issue all deletes: ');
    broken = false;
    await until('it is gone', async () =>
      (await server.get(`${definitions}/${name}`)).status === 404 ? true : undefined,
    );
    await server.server.stop();
  });

  it('API-454 a definition that somebody wrote past the API keeps no other from being served', async () => {
    const store = new FaultyStore();
    const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/odd.example.com';
    const odd = {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'odd.example.com' },
    };
    await store.create(key, encodeStored(odd));
    const server = await startTestServer({ store });
    await establish(server, definition());
    expect((await server.post(widgets, widget('a'))).status).toBe(201);
    await server.server.stop();
  });

  it('API-454 a watch of definitions that ends begins anew, with what happened meanwhile', async () => {
    const store = new FaultyStore();
    const server = await startTestServer({ store });
    await establish(server, definition());
    const [first] = store.watches.filter(({ prefix }) => prefix.includes('customresourcedefinitions'));
    first?.watch.cancel();
    await server.delete(`${definitions}/${name}`);
    await server.post(
      definitions,
      definition({ names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' } }),
    );
    expect((await server.get('/apis/example.com/v1/gadgets')).status).toBe(404);
    first?.options.onClose?.(new Error('the store has ended it'));
    await until('the new one is served', async () =>
      (await server.get('/apis/example.com/v1/gadgets')).status === 200 ? true : undefined,
    );
    await until('the old one is gone', async () => ((await server.get(widgets)).status === 404 ? true : undefined));
    await server.server.stop();
  });

  it('API-456 API-457 a definition that went and came again unseen is another one', async () => {
    const store = new FaultyStore();
    const held = new HeldAdmission('CREATE', 'widgets');
    const server = await startTestServer({ store, admission: [held.plugin] });
    await establish(server, definition());
    const late = server.post(widgets, widget('n'));
    await held.reached;
    const [first] = store.watches.filter(({ prefix }) => prefix.includes('customresourcedefinitions'));
    first?.watch.cancel();
    const other = await startTestServer({ store, seed: 2 });
    await other.delete(`${definitions}/${name}`);
    await until('it is gone', async () =>
      (await other.get(`${definitions}/${name}`)).status === 404 ? true : undefined,
    );
    const names = { plural: 'widgets', singular: 'widget', kind: 'Gizmo', listKind: 'GizmoList' };
    await establish(other, definition({ names }));
    first?.options.onClose?.(new Error('the store has ended it'));
    await until('the new one is served', async () =>
      (await server.get(widgets)).text.includes('"GizmoList"') ? true : undefined,
    );
    held.release();
    expect((await late).status).toBe(403);
    expect((await store.list('/registry/example.com/widgets/')).items).toEqual([]);
    await server.server.stop();
    await other.server.stop();
  });
});
