import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import { CommandError, systemReason } from '../process/command-error.ts';

/**
 * The directory in which `kubegc up` keeps its data: the store, its certificates and the administrator's token. Only its user can read it
 * (mode 0700), because a reader becomes an administrator.
 */
export class DataDirectory {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(path: string): Promise<DataDirectory> {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await chmod(path, 0o700);
      const probe = join(path, `.probe-${randomUUID()}`);
      await writeFile(probe, '');
      await rm(probe);
    } catch (error) {
      throw new CommandError(
        `cannot use the data directory ${path}: ${systemReason(error)}`,
        'Choose another one with --data-dir, or run with --store memory to keep nothing.',
        { cause: error },
      );
    }
    return new DataDirectory(path);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** The content of a file in the directory; undefined if it does not exist. */
  async read(name: string): Promise<string | undefined> {
    try {
      return await readFile(this.file(name), 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new CommandError(`cannot read ${this.file(name)}: ${systemReason(error)}`, undefined, { cause: error });
    }
  }

  /** Durable and private (mode 0600). */
  async write(name: string, content: string): Promise<void> {
    try {
      await writeFileAtomically(this.file(name), content, 0o600);
    } catch (error) {
      throw new CommandError(`cannot write ${this.file(name)}: ${systemReason(error)}`, undefined, { cause: error });
    }
  }
}
