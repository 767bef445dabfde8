import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import { API_SERVICES_PREFIX as PREFIX, LocalApiServices, type LocalApiServicesOptions } from './local-api-services.ts';

const { typeName: _, ...untyped } = builtinResources()[0]!;
const widgets: ResourceInfo = { ...untyped, group: 'example.com', version: 'v1', resource: 'widgets' };

let clock: FakeClock;
let store: Store;
beforeEach(() => {
  clock = new FakeClock(Date.parse('2026-11-27T12:00:00Z'));
  store = openMemoryStore({ clock });
});

const nextTurn = (): Promise<void> => new Promise((turn) => setImmediate(turn));

/** The store. Its writes take a turn of the event loop, so that a test of writes without end fails and does not run for ever. */
const writer: LocalApiServicesOptions['store'] = {
  create: (...write) => nextTurn().then(() => store.create(...write)),
  update: (...write) => nextTurn().then(() => store.update(...write)),
  delete: (...write) => nextTurn().then(() => store.delete(...write)),
};

/** The keeper of a server that serves these resources, and can add and remove some. */
class Server {
  readonly keeper: LocalApiServices;
  readonly #follower: StoreFollower;
  readonly #served = new Set<ResourceInfo>();

  constructor(...served: readonly ResourceInfo[]) {
    const logger = new MemoryLogger();
    this.keeper = new LocalApiServices({
      store: writer,
      clock,
      random: seededRandom(1),
      logger,
      isLocal: ({ group, version }) =>
        [...this.#served].some((info) => info.group === group && info.version === version),
    });
    this.#follower = new StoreFollower({
      store,
      clock,
      logger,
      prefix: PREFIX,
      replace: (items) => this.keeper.replace(items),
      observe: (events) => this.keeper.observe(events),
    });
    for (const info of served) this.add(info);
  }

  async start(): Promise<this> {
    await this.#follower.start();
    await this.keeper.start();
    return this;
  }

  /** Resolves when no write is under way. */
  async stop(): Promise<void> {
    this.#follower.stop();
    await this.keeper.stop();
  }

  add(info: ResourceInfo): void {
    this.#served.add(info);
    this.keeper.added(info);
  }

  remove(info: ResourceInfo): void {
    this.#served.delete(info);
    this.keeper.removed(info);
  }
}

async function stored(): Promise<string[]> {
  return (await store.list(PREFIX)).items.map(({ key }) => key.slice(PREFIX.length));
}

async function widgetsService(): Promise<KeyValue> {
  return (await store.get(`${PREFIX}v1.example.com`)).kv!;
}

async function priority(): Promise<number> {
  const { spec } = new StoredObject(await widgetsService()).object() as { spec?: { groupPriorityMinimum: number } };
  return spec!.groupPriorityMinimum;
}

async function writeAsOther(): Promise<void> {
  const kv = await widgetsService();
  const object = new StoredObject(kv).object();
  const spec = { ...(object['spec'] as object), groupPriorityMinimum: 5 };
  await store.update(kv.key, encodeStored({ ...object, spec }), kv.modRevision);
}

describe('the APIServices that a server keeps', () => {
  it('API-606 are not written after a stop, even if the server starts afterwards', async () => {
    const late = new Server();
    await late.stop();
    await late.start();
    late.add(widgets);
    await late.stop();
    expect(await stored()).toEqual([]);
  });

  it('API-606 of another server stay, whichever server serves the group version longer', async () => {
    const [older, newer] = [await new Server().start(), await new Server().start()];
    const before = await store.currentRevision();
    newer.add(widgets);
    await newer.stop();
    await older.stop();
    expect(await stored()).toEqual(['v1.example.com']);
    expect(await store.currentRevision()).toBe(before + 1);
  });

  it('API-606 are deleted once by a server that stops serving the group version, and stay if another server restores them', async () => {
    const [first, second] = [await new Server(widgets).start(), await new Server(widgets).start()];
    expect(await stored()).toEqual(['v1.example.com']);
    const before = await store.currentRevision();
    first.remove(widgets);
    await expect.poll(() => store.currentRevision()).toBe(before + 2);
    await first.stop();
    await second.stop();
    expect(await stored()).toEqual(['v1.example.com']);
    expect(await store.currentRevision()).toBe(before + 2);
  });

  it('API-606 that are stored and not served at the start are deleted, once', async () => {
    await (await new Server(widgets).start()).stop();
    const late = await new Server().start();
    expect(await stored()).toEqual([]);
    const other = await new Server(widgets).start();
    await late.stop();
    await other.stop();
    expect(await stored()).toEqual(['v1.example.com']);
  });

  it('API-606 that are served again are deleted when they are withdrawn again', async () => {
    const server = await new Server(widgets).start();
    for (const present of [false, true, false]) {
      if (present) server.add(widgets);
      else server.remove(widgets);
      await expect.poll(stored).toEqual(present ? ['v1.example.com'] : []);
    }
    await server.stop();
  });

  describe('that a server of another release writes with other priorities', () => {
    let server: Server;
    beforeEach(async () => {
      server = await new Server(widgets).start();
      await writeAsOther();
      await expect.poll(priority).toBe(1000);
    });
    afterEach(() => server.stop());

    it('API-606 are corrected at once, and a second time after a pause of ten seconds', async () => {
      await writeAsOther();
      clock.advance(9_999);
      await nextTurn();
      expect(await priority()).toBe(5);
      clock.advance(1);
      await expect.poll(priority).toBe(1000);
    });

    it('API-606 are corrected at once after the pause', async () => {
      clock.advance(10_000);
      await writeAsOther();
      await expect.poll(priority).toBe(1000);
    });
  });
});
