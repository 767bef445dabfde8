import { beforeEach, describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import type { Store } from '../storage/interface.ts';
import { LocalApiServices } from './local-api-services.ts';

const PREFIX = '/registry/apiregistration.k8s.io/apiservices/';
const { typeName: _, ...untyped } = builtinResources()[0]!;
const widgets: ResourceInfo = { ...untyped, group: 'example.com', version: 'v1', resource: 'widgets' };

let clock: FakeClock;
let store: Store;
beforeEach(() => {
  clock = new FakeClock(Date.parse('2026-11-27T12:00:00Z'));
  store = openMemoryStore({ clock });
});

function keeper(): LocalApiServices {
  return new LocalApiServices({ store, clock, random: seededRandom(1), logger: new MemoryLogger() });
}

async function stored(): Promise<string[]> {
  return (await store.list(PREFIX)).items.map(({ key }) => key.slice(PREFIX.length));
}

describe('the APIServices that a server keeps', () => {
  it('API-606 are not written after a stop, even if the server starts afterwards', async () => {
    const late = keeper();
    await late.stop();
    await late.start();
    late.added(widgets);
    await late.stop();
    expect(await stored()).toEqual([]);
  });
});
