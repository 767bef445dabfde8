import { constants, close, fdatasync, open, read, write } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open as openHandle, readFile as readWhole } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/**
 * Size of a log. The file is written whole before it is used, so that a flush concerns data alone and takes half the time of a flush of a
 * growing file.
 */
export const REDO_LOG_BYTES = 1 << 20;

/**
 * Each write with this flag returns when it is on the disk: one visit to a thread instead of two. On macOS the flag does not flush the
 * cache of the drive, but libuv's fdatasync does; Windows has no such flag.
 */
const DURABLE_WRITES = process.platform === 'linux' ? constants.O_DSYNC : 0;

const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

/** A file of {@link REDO_LOG_BYTES}, and a buffer with the same bytes at all places that were written since it was opened. */
export class RedoLog {
  readonly #descriptor: number;
  #buffer = freshBuffer();
  #closed: Promise<void> | undefined;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Opens a log that was made by {@link makeRedoLogs}. */
  static async open(path: string): Promise<RedoLog> {
    return new RedoLog(await openFile(path, constants.O_RDWR | DURABLE_WRITES));
  }

  /** Records are encoded in this buffer, at their offset in the file. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** Fills the buffer from the file; resolves with the number of its bytes. */
  async read(): Promise<number> {
    let at = 0;
    for (;;) {
      const { bytesRead } = await readFile(this.#descriptor, this.#buffer, at, REDO_LOG_BYTES - at, at);
      at += bytesRead;
      if (bytesRead === 0 || at === REDO_LOG_BYTES) return at;
    }
  }

  /** Releases the memory of the read contents. */
  dropBuffer(): void {
    this.#buffer = freshBuffer();
  }

  /** Resolves when these bytes of the buffer are on the disk. */
  write(start: number, end: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error: Error | null): void => (error === null ? resolve() : reject(error));
      const writeOn = (from: number): void => {
        write(this.#descriptor, this.#buffer, from, end - from, from, (error, written) => {
          if (error !== null) reject(error);
          else if (written === 0) reject(new Error('a write into a redo log ended early'));
          else if (from + written < end) writeOn(from + written);
          else if (DURABLE_WRITES !== 0) resolve();
          else fdatasync(this.#descriptor, finish);
        });
      };
      writeOn(start);
    });
  }

  /** Closes the file once, however often it is called: afterwards another file may have the number of this one. */
  close(): Promise<void> {
    this.#closed ??= closeFile(this.#descriptor);
    return this.#closed;
  }
}

/** A buffer of zeros, because the bytes between two records are written too. It takes memory only where it is written. */
function freshBuffer(): Buffer {
  return Buffer.alloc(REDO_LOG_BYTES);
}

/** Creates or replaces the files on disk, full of zeros. Only their owner can read them, because they contain secrets. */
export async function makeRedoLogs(paths: readonly [string, string]): Promise<void> {
  // One after the other, so that nothing more is written after a failure.
  for (const path of paths) {
    await usingFile(path, 'w', async (file) => {
      await file.writeFile(Buffer.alloc(REDO_LOG_BYTES));
      await file.datasync();
    });
  }
  // A name is durable once its directory is synced; Windows cannot open a directory.
  if (process.platform !== 'win32') await usingFile(dirname(paths[0]), 'r', (folder) => folder.sync());
}

/** True if a record was ever written to this file of {@link makeRedoLogs}; false if there is no file. */
export async function hasRecords(path: string): Promise<boolean> {
  try {
    return (await readWhole(path)).some((byte) => byte !== 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

async function usingFile(path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await openHandle(path, flags, 0o600);
  try {
    await use(file);
  } finally {
    await file.close();
  }
}
