import type { RuntimeContainer, RuntimeImage } from './runtime.ts';

/** An image with its ages and its users. Times are nanoseconds since the epoch. */
export interface ImageRecord {
  /** The id, or `id,handler` where the runtime reports a handler (NODE-030). */
  readonly key: string;
  readonly image: RuntimeImage;
  readonly firstDetected: bigint;
  /** Undefined when the image was never seen in use. */
  readonly lastUsed: bigint | undefined;
  /** Containers that use the image now, running or dead, and containers that mount it. */
  readonly users: readonly RuntimeContainer[];
}

export type Inventory = ReadonlyMap<string, ImageRecord>;

/** The part that survives a restart of the daemon (NODE-210). */
export interface ImageMemory {
  readonly firstDetected: bigint;
  readonly lastUsed: bigint | undefined;
}

export interface Sighting {
  readonly images: readonly RuntimeImage[];
  readonly containers: readonly RuntimeContainer[];
  /** Images mounted as volumes, by id of the container that mounts them. */
  readonly volumes: ReadonlyMap<string, readonly string[]>;
  /** The times when the detection began and when its lists were complete. */
  readonly at: bigint;
  readonly now: bigint;
}

export const imageKey = (id: string, runtimeHandler: string): string =>
  runtimeHandler === '' ? id : `${id},${runtimeHandler}`;

const nobody: readonly RuntimeContainer[] = [];

/** Users by key of the image. A mounted volume protects the image under every handler, whichever of its names is mounted. */
function usersByKey({ images, containers, volumes }: Sighting): Map<string, RuntimeContainer[]> {
  const users = new Map<string, RuntimeContainer[]>();
  const add = (key: string, container: RuntimeContainer): void => {
    const known = users.get(key);
    if (known === undefined) users.set(key, [container]);
    else known.push(container);
  };
  const keysOf = new Map<string, string[]>();
  const mounted = new Set<string>();
  for (const names of volumes.values()) for (const name of names) mounted.add(name);
  if (mounted.size > 0) {
    for (const { id, runtimeHandler, tags, digests } of images) {
      for (const name of [id, ...tags, ...digests]) {
        if (mounted.has(name)) keysOf.set(name, [...(keysOf.get(name) ?? []), imageKey(id, runtimeHandler)]);
      }
    }
  }
  for (const container of containers) {
    add(imageKey(container.imageId, container.runtimeHandler), container);
    if (keysOf.size === 0) continue;
    for (const name of volumes.get(container.id) ?? []) for (const key of keysOf.get(name) ?? []) add(key, container);
  }
  return users;
}

/**
 * Updates the records with one detection (NODE-031). New images get a record, and used images get a new time of use. Images that are no
 * longer listed lose their record, so an image that comes back counts as new.
 * @param memory of an earlier process; counts for images that `previous` does not have
 */
export function detect(
  previous: Inventory,
  sighting: Sighting,
  memory: ReadonlyMap<string, ImageMemory> = new Map(),
): Map<string, ImageRecord> {
  const users = usersByKey(sighting);
  const records = new Map<string, ImageRecord>();
  for (const image of sighting.images) {
    const key = imageKey(image.id, image.runtimeHandler);
    const known = previous.get(key) ?? memory.get(key);
    const usedBy = users.get(key) ?? nobody;
    records.set(key, {
      key,
      image,
      firstDetected: earlier(known?.firstDetected, sighting.at),
      lastUsed: usedBy.length > 0 ? sighting.now : notAfter(known?.lastUsed, sighting.now),
      users: usedBy,
    });
  }
  return records;
}

/** After the clock was set back, a first detection would be in the future. The image then counts as new at this moment. */
function earlier(known: bigint | undefined, now: bigint): bigint {
  return known === undefined || known > now ? now : known;
}

/** A last use in the future counts as a use at this moment. The true time is unknown, and the image must not stay for ever. */
function notAfter(known: bigint | undefined, now: bigint): bigint | undefined {
  return known !== undefined && known > now ? now : known;
}
