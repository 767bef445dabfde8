import { append } from '../../base/collections/append.ts';
import { isJsonObject } from '../../api/codec/json/json-value.ts';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/errors/thrown.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { CommandError, systemReason } from '../process/command-error.ts';

export interface Manifest {
  readonly file: string;
  readonly object: KubeObject;
}

const extensions = ['.json', '.yaml', '.yml'];

async function filesUnder(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path);
    const files = entries.filter((entry) => extensions.some((extension) => entry.endsWith(extension))).toSorted();
    if (files.length === 0) {
      throw new CommandError(
        `no manifests in ${path}`,
        `A directory given with -f is read for ${extensions.join(', ')} files.`,
      );
    }
    return files.map((entry) => join(path, entry));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `cannot read ${path}: ${systemReason(error)}`,
      'Give -f a file or a directory of manifests.',
      {
        cause: error,
      },
    );
  }
}

function objectsIn(file: string, document: unknown): KubeObject[] {
  if (document === null || document === undefined) return [];
  if (!isJsonObject(document)) throw new CommandError(`${file}: a document is not an object`);
  const { kind, apiVersion, items } = document;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item: unknown) => objectsIn(file, item));
  }
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new CommandError(`${file}: an object has no apiVersion and kind`);
  }
  return [document as KubeObject];
}

/** Namespaces and definitions come first, whatever the order of the files, because other objects need them. */
const rank = ({ object }: Manifest): number =>
  object.kind === 'Namespace' ? 0 : object.kind === 'CustomResourceDefinition' ? 1 : 2;

/** Reads all objects of the files and directories of `-f`. If any cannot be read, nothing is loaded. */
export async function readManifests(paths: readonly string[]): Promise<Manifest[]> {
  if (paths.length === 0) return [];
  const { parseYamlDocuments } = await import('../../api/codec/yaml/yaml.ts');
  const manifests: Manifest[] = [];
  for (const path of paths) {
    for (const file of await filesUnder(path)) {
      let text: string;
      try {
        text = await readFile(file, 'utf8');
      } catch (error) {
        throw new CommandError(`cannot read ${file}: ${systemReason(error)}`, undefined, { cause: error });
      }
      let documents: readonly unknown[];
      try {
        documents = parseYamlDocuments(text);
      } catch (error) {
        throw new CommandError(`${file}: ${messageOf(error)}`, undefined, {
          cause: error,
        });
      }
      append(
        manifests,
        documents.flatMap((document) => objectsIn(file, document)).map((object) => ({ file, object })),
      );
    }
  }
  return manifests.toSorted((left, right) => rank(left) - rank(right));
}
