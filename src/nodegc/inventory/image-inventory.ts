import type { ImageRecord, ImageRecords } from './image-records.ts';
import type { RuntimeContainer, RuntimeImage } from './runtime.ts';

/** The part that survives a restart of the daemon (NODE-210). */
export interface ImageMemory {
  readonly firstDetected: bigint;
  readonly lastUsed: bigint | undefined;
}

/** Image memories by key of the image. An inventory is one kind of it. */
export interface ImageMemories {
  get(key: string): ImageMemory | undefined;
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
export function detect(previous: ImageRecords, sighting: Sighting, memory: ImageMemories = new Map()): ImageRecords {
  const unused = previous.next(
    sighting.images,
    ({ id, runtimeHandler }) => imageKey(id, runtimeHandler),
    (image, key, recorded) => {
      if (recorded !== undefined && isCurrent(recorded, image, sighting)) return recorded;
      const known = recorded ?? memory.get(key);
      return {
        key,
        image,
        firstDetected: earlier(known?.firstDetected, sighting.at),
        lastUsed: notAfter(known?.lastUsed, sighting.now),
        users: nobody,
      };
    },
  );
  return unused.updated(usersByKey(sighting), ({ key, image, firstDetected }, users) => ({
    key,
    image,
    firstDetected,
    lastUsed: sighting.now,
    users,
  }));
}

/** Whether a new record would be equal: nobody used the unchanged image, and no time is in the future. */
function isCurrent(record: ImageRecord, image: RuntimeImage, { at, now }: Sighting): boolean {
  return (
    record.image === image &&
    record.users.length === 0 &&
    record.firstDetected <= at &&
    (record.lastUsed === undefined || record.lastUsed <= now)
  );
}

/** After the clock was set back, a first detection would be in the future. The image then counts as new at this moment. */
function earlier(known: bigint | undefined, now: bigint): bigint {
  return known === undefined || known > now ? now : known;
}

/** A last use in the future counts as a use at this moment. The true time is unknown, and the image must not stay for ever. */
function notAfter(known: bigint | undefined, now: bigint): bigint | undefined {
  return known !== undefined && known > now ? now : known;
}
