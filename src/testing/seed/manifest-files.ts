import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of a directory that hold objects, as kubectl has it. */
const ENDINGS = /\.(?:ya?ml|json)$/;

/** One file, read. */
export interface ManifestFile {
  readonly path: string;
  readonly text: string;
  /** It was found in a directory, not named. */
  readonly found: boolean;
}

/** A text of one line that is no YAML of an object: `config/crd/bases`, `shop.yaml`. */
export function isPath(text: string): boolean {
  const line = text.trim();
  return line !== '' && !/[\n{[]|: /.test(line) && !/^(?:#|-)/.test(line);
}

/**
 * The file, or those of the directory that end in `.yaml`, `.yml` or `.json`, by name; not those of inner directories. Relative paths
 * begin at the working directory of the process. Rejects with the system's error for what is not there, and with an Error for a
 * directory without such files.
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
