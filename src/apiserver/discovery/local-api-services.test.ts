import { beforeEach, describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';
import type { Store } from '../storage/interface.ts';
import { API_SERVICES_PREFIX as PREFIX, LocalApiServices } from './local-api-services.ts';

const { typeName: _, ...untyped } = builtinResources()[0]!;
const widgets: ResourceInfo = { ...untyped, group: 'example.com', version: 'v1', resource: 'widgets' };

let clock: FakeClock;
let store: Store;
beforeEach(() => {
  clock = new FakeClock(Date.parse('2026-11-27T12:00:00Z'));
  store = openMemoryStore({ clock });
});

/** The keeper of a server that serves these resources, and can add and remove some. */
class Server {
  readonly keeper: LocalApiServices;
  readonly #follower: StoreFollower;
  readonly #served = new Set<ResourceInfo>();

  constructor(...served: readonly ResourceInfo[]) {
    const logger = new MemoryLogger();
    this.keeper = new LocalApiServices({
      store,
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

describe('the APIServices that a server keeps', () => {
  it('API-606 are not written after a stop, even if the server starts afterwards', async () => {
    const late = new Server();
    await late.stop();
    await late.start();
    late.add(widgets);
    await late.stop();
    expect(await stored()).toEqual([]);
  });
});
