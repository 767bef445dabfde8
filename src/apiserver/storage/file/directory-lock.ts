import { mkdir, open, readdir, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { join, relative } from 'node:path';
import { sleep } from '../../../base/time/clock.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Random } from '../../../base/random/random.ts';
import { StoreDirectoryError, StoreLockedError } from '../store-errors.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

export interface DirectoryLockOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** `lock.<time, base 36, fixed width>.<pid>.<random>`, so that sorting by name sorts by time. */
const LOCK_NAME = /^lock\.[0-9a-z]{9}\.(\d+)\.[0-9a-f]{8}$/;

const LONGEST_NAME = 'lock.'.length + 9 + 1 + 10 + 1 + 8;

/** The kernel's limit on the path of a unix socket, without the final zero (104 on the BSDs, 108 on Linux). */
const LONGEST_SOCKET_PATH = 103;

/** Number and interval of checks whether a later contender withdraws. */
const PATIENCE = { tries: 25, pauseMs: 20 } as const;

/** Attempts with a new socket after another process removed ours. */
const ATTEMPTS = 5;

/**
 * Locks a directory for this process until it releases it or dies in any way. Node has no file locks, so the proof of life is a listening
 * unix socket in the directory: the kernel refuses connections once its process is gone, also after kill -9, whatever process ids are
 * reused, and across containers that share the directory. (Not across machines: a data directory must be on a local disk.)
 *
 * Each contender has a socket with its own name, so removing a dead one never affects a live one. It binds first and then lists the
 * directory, so at least one of two contenders sees the other, and the one with the later name withdraws. At most one stays, and the one
 * with the smallest name always does. A contender that sees a *later* live one waits briefly until it withdraws; if it does not, it was the
 * first to list the directory, and holds the lock.
 *
 * Between its creation and its first `listen` a socket looks dead, and another process may remove it. That process has bound before, so its
 * victim either sees it alive, or misses its own name in the same listing and starts again.
 */
export async function lockDirectory(directory: string, options: DirectoryLockOptions): Promise<DirectoryLock> {
  const sockets = await socketFolder(directory);
  try {
    for (let attempt = 1; ; attempt++) {
      const server = await contend(directory, { ...options, sockets });
      if (server !== undefined) return { release: () => closeServer(server).then(sockets.close) };
      if (attempt === ATTEMPTS) throw new StoreDirectoryError(directory, new Error('the lock in it keeps vanishing'));
    }
  } catch (error) {
    await sockets.close();
    throw error;
  }
}

interface Contention extends DirectoryLockOptions {
  readonly sockets: SocketFolder;
}

/** The socket that holds the lock; undefined if another process removed it. */
async function contend(directory: string, { clock, random, sockets }: Contention): Promise<Server | undefined> {
  const name = lockName(clock.now(), random.bytes(4));
  const server = await listen(sockets.path(name)).catch((error: unknown) => {
    throw new StoreDirectoryError(directory, error);
  });
  try {
    for (let tries = 0; ; tries++) {
      const { own, rivals } = await lookAround(directory, { name, sockets });
      const first = rivals[0];
      if (first === undefined) {
        if (own === 'there') return server;
        break;
      }
      if (first < name || tries === PATIENCE.tries) throw new StoreLockedError(directory, pidOf(first));
      await sleep(clock, PATIENCE.pauseMs);
    }
  } catch (error) {
    await closeServer(server);
    throw error;
  }
  await closeServer(server);
  return undefined;
}

interface SocketFolder {
  path(name: string): string;
  close(): Promise<void>;
}

/** The path of sockets in the directory in a form that fits the kernel's limit. */
async function socketFolder(directory: string): Promise<SocketFolder> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new StoreDirectoryError(directory, error);
  });
  for (const folder of [directory, relative(process.cwd(), directory) || '.']) {
    if (Buffer.byteLength(folder) + 1 + LONGEST_NAME <= LONGEST_SOCKET_PATH) {
      return { path: (name) => join(folder, name), close: async () => {} };
    }
  }
  if (process.platform !== 'linux') {
    throw new StoreDirectoryError(directory, new Error('its path is too long for a socket in it'));
  }
  // An open directory also has a short path.
  const handle = await open(directory, 'r');
  return { path: (name) => `/proc/self/fd/${handle.fd}/${name}`, close: () => handle.close() };
}

interface Look {
  readonly own: 'there' | 'gone';
  /** Names of live contenders, earliest first. */
  readonly rivals: readonly string[];
}

/** Also removes dead contenders. */
async function lookAround(
  directory: string,
  { name, sockets }: { name: string; sockets: SocketFolder },
): Promise<Look> {
  const rivals: string[] = [];
  const names = await readdir(directory);
  for (const rival of names) {
    if (rival === name || !LOCK_NAME.test(rival)) continue;
    if (await isAlive(sockets.path(rival))) rivals.push(rival);
    else await unlink(join(directory, rival)).catch(() => {});
  }
  return { own: names.includes(name) ? 'there' : 'gone', rivals: rivals.toSorted() };
}

/** Only a refused connection proves death; a full backlog or any other error counts as alive. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => resolve(server));
    // An unclosed store must not keep the process running.
    server.unref();
  });
}

function closeServer(server: Server): Promise<void> {
  // Closing removes the socket's file.
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function lockName(now: number, random: Uint8Array): string {
  return `lock.${now.toString(36).padStart(9, '0')}.${process.pid}.${Buffer.from(random).toString('hex')}`;
}

function pidOf(name: string): number {
  return Number(LOCK_NAME.exec(name)?.[1]);
}
