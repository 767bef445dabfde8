import { createReadStream } from 'node:fs';
import { chmod, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** The file system operations of the store of records. Injected, so that a test can make them fail. */
export interface RecordFiles {
  /** Creates the folder and its parents with mode 0700. */
  makeFolder(path: string): Promise<void>;
  /** Creates a new file with mode 0600; rejects with EEXIST if it exists. */
  create(path: string): Promise<FileHandle>;
  readText(path: string): Promise<string>;
  /** Lines without their newlines; the last may have none. */
  readLines(path: string): AsyncIterable<string>;
  list(path: string): Promise<string[]>;
  sizeOf(path: string): Promise<number>;
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name, unless that name exists. */
  linkNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
}

const NEWLINE = 0x0a;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The file system of this machine. */
export const diskFiles: RecordFiles = {
  async makeFolder(path) {
    const made = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
    if (made !== undefined) await chmod(path, FOLDER_MODE);
  },
  create: (path) => open(path, 'wx', FILE_MODE),
  readText: (path) => readFile(path, 'utf8'),
  // `FileHandle.readLines` also ends lines at U+2028, which JSON allows in strings.
  async *readLines(path) {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
        yield bytes.toString('utf8', from, end);
        from = end + 1;
      }
      rest = bytes.subarray(from);
    }
    if (rest.length > 0) yield rest.toString('utf8');
  },
  list: (path) => readdir(path),
  sizeOf: async (path) => (await stat(path)).size,
  rename,
  async linkNew(from, to) {
    await link(from, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  },
  remove: (path) => rm(path, { recursive: true, force: true }),
  async syncFolder(path) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
};
