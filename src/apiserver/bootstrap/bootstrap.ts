import type { Clock } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import { type BootstrapObject, bootstrapObjects, type BootstrapOptions } from './bootstrap-objects.ts';
import { stampCreated } from '../registry/object/object-meta.ts';
import type { Store } from '../storage/interface.ts';
import { objectKey } from '../storage/storage-keys.ts';
import { encodeStored } from '../storage/stored-object.ts';

interface BootstrapEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Creates the initial objects of a cluster, and leaves existing ones unchanged. Writes directly to the store, in their final form, because
 * the endpoints would load the schema of every kind before the first request. All writes share one commit.
 */
export async function bootstrap(environment: BootstrapEnvironment, options: BootstrapOptions): Promise<void> {
  await Promise.all(bootstrapObjects(options).map((entry) => ensure(environment, entry)));
}

/** Keys of objects that kube-apiserver restores: namespaces, and the service that pods use. */
export function bootstrapKeys(options: BootstrapOptions): readonly string[] {
  return bootstrapObjects(options)
    .filter(({ resource }) => resource.resource !== 'priorityclasses')
    .map(keyOf);
}

function keyOf({ resource, object }: BootstrapObject): string {
  return objectKey(resource, object.metadata?.namespace, object.metadata?.name ?? '');
}

async function ensure({ store, clock, random }: BootstrapEnvironment, entry: BootstrapObject): Promise<void> {
  const { object } = entry;
  const key = keyOf(entry);
  const { kv } = await store.get(key);
  if (kv !== undefined) return;
  stampCreated(object, random.uuid(), clock.now());
  // Another server on the same store may have created it first, which is fine.
  await store.create(key, encodeStored(object));
}
