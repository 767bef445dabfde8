import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/errors/thrown.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import type { ImageMemory } from '../inventory/image-inventory.ts';
import type { Inventory } from '../inventory/image-records.ts';

/** The state file cannot be used, so nothing is removed. */
export class StateFileError extends Error {
  readonly path: string;
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`cannot read the state file ${path}: ${reason}`, options);
    this.name = 'StateFileError';
    this.path = path;
  }
}

const API_VERSION = 'node.kubegc/v1alpha1';
const KIND = 'NodeState';
const TIME = /^\d{1,20}$/;

function parse(path: string, text: string): Map<string, ImageMemory> {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new StateFileError(path, reason, { cause });
  };
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch (error) {
    refuse('it is not JSON', error);
  }
  const { apiVersion, kind, images } = (state ?? {}) as { apiVersion?: unknown; kind?: unknown; images?: unknown };
  if (kind !== KIND || apiVersion !== API_VERSION) refuse(`it is not a ${KIND} of ${API_VERSION}`);
  if (typeof images !== 'object' || images === null) return refuse('it has no images');
  return new Map(
    Object.entries(images).map(([key, value]): [string, ImageMemory] => {
      const { firstDetected, lastUsed } = (value ?? {}) as { firstDetected?: unknown; lastUsed?: unknown };
      const time = (text: unknown): bigint =>
        typeof text === 'string' && TIME.test(text)
          ? BigInt(text)
          : refuse(`the times of image ${key} are not numbers`);
      return [
        key,
        { firstDetected: time(firstDetected), lastUsed: lastUsed === undefined ? undefined : time(lastUsed) },
      ];
    }),
  );
}

/** Knowledge about images that survives restarts (NODE-210), in one file that is written whole or not at all. */
export class ImageMemoryFile {
  readonly #path: string;
  #written: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The map is empty when there is no file yet.
   * @throws StateFileError
   */
  async read(): Promise<Map<string, ImageMemory>> {
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
      throw new StateFileError(this.#path, messageOf(error), { cause: error });
    }
    return parse(this.#path, text);
  }

  /** Writes nothing when nothing has changed since the last write. */
  async write(inventory: Inventory): Promise<void> {
    const images = Object.fromEntries(
      [...inventory.values()].map(({ key, firstDetected, lastUsed }) => [
        key,
        { firstDetected: `${firstDetected}`, ...(lastUsed === undefined ? {} : { lastUsed: `${lastUsed}` }) },
      ]),
    );
    const text = `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, images })}\n`;
    if (text === this.#written) return;
    await writeFileAtomically(this.#path, text, 0o600);
    this.#written = text;
  }
}
