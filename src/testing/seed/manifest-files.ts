import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file name extensions of kubectl. */
const ENDINGS = /\.(?:ya?ml|json)$/;

/** A file that was read. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
  /** True if it was found in a directory instead of named. */
  readonly found: boolean;
}

/** True for a single-line text that is not YAML of an object: `config/crd/bases`, `shop.yaml`. */
export function isPath(text: string): boolean {
  const line = text.trim();
  return line !== '' && !/[\n{[]|: /.test(line) && !/^(?:#|-)/.test(line);
}

/**
 * The file, or the files of the directory that end in `.yaml`, `.yml` or `.json`, by name, without subdirectories. Relative paths start at
 * the working directory. Rejects with the system's error for a missing path, and with an Error for a directory without such files.
 */
export async function readManifestFiles(source: string | URL): Promise<readonly ManifestFile[]> {
  const path = typeof source === 'string' ? source.trim() : fileURLToPath(source);
  if (!(await stat(path)).isDirectory()) return [await read(path, false)];
  const names = (await readdir(path)).filter((name) => ENDINGS.test(name)).toSorted();
  if (names.length === 0) throw new Error('the directory has no file that ends in .yaml, .yml or .json');
  return Promise.all(names.map((name) => read(join(path, name), true)));
}

async function read(path: string, found: boolean): Promise<ManifestFile> {
  return { path, text: await readFile(path, 'utf8'), found };
}
