import { lstat, readdir, readlink, rm, stat, statfs, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DiskReading } from '../images/thresholds.ts';

/** Access to the node's file systems: reading and removing. */
export interface FileSystem {
  /** Undefined when the path does not exist or cannot be read (NODE-073). */
  usage(path: string): Promise<DiskReading | undefined>;
  /** Number of the file system that a path is on; undefined when the path does not exist. */
  device(path: string): Promise<bigint | undefined>;
  /**
   * Names in a directory.
   * @throws the error of the system
   */
  list(directory: string): Promise<readonly string[]>;
  /** Names of the links in a directory whose target does not exist. Empty when the directory does not exist. */
  deadLinks(directory: string): Promise<readonly string[]>;
  /** Removes a file or a link. Succeeds when it does not exist. */
  removeFile(path: string): Promise<void>;
  removeTree(path: string): Promise<void>;
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

async function unlessAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The file systems of this machine. */
export function nodeFileSystem(): FileSystem {
  return {
    async usage(path) {
      const said = await unlessAbsent(statfs(path, { bigint: true }));
      if (said === undefined) return undefined;
      return {
        capacity: said.blocks * said.bsize,
        available: said.bavail * said.bsize,
        inodes: said.files,
        inodesFree: said.ffree,
      };
    },
    async device(path) {
      return (await unlessAbsent(stat(path, { bigint: true })))?.dev;
    },
    list: (directory) => readdir(directory),
    async deadLinks(directory) {
      const entries = (await unlessAbsent(readdir(directory))) ?? [];
      const dead: string[] = [];
      for (const entry of entries) {
        const path = join(directory, entry);
        if ((await unlessAbsent(lstat(path)))?.isSymbolicLink() !== true) continue;
        const target = await unlessAbsent(readlink(path));
        if (target === undefined) continue;
        const followed = resolve(directory, target);
        if ((await unlessAbsent(stat(followed))) === undefined) dead.push(entry);
      }
      return dead.toSorted();
    },
    async removeFile(path) {
      await unlessAbsent(unlink(path));
    },
    async removeTree(path) {
      await rm(path, { recursive: true, force: true });
    },
  };
}
