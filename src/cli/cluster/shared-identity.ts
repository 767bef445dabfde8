import type { Store } from '../../apiserver/storage/interface.ts';
import { REGISTRY_ROOT } from '../../apiserver/storage/storage-keys.ts';
import { CommandError } from '../process/command-error.ts';
import { type Identity, type IdentityFiles, type IdentityOptions, prepareIdentity } from './identity.ts';

/** One key for all parts, because a certificate and its key must never come from two servers that started at the same time. */
const IDENTITY_KEY = `${REGISTRY_ROOT}kubegc/identity`;

/** Maximum number of attempts. In each, another server has changed a part meanwhile. */
const ATTEMPTS = 10;

/** True for a part of one server only, because it contains the server's address. */
const isPrivate = (name: string): boolean => name.startsWith('server.');

/** The identity of all servers on one store: the same authority, keys and token, so that a client may use any of them. */
class SharedFiles implements IdentityFiles {
  readonly #store: Store;
  readonly #files: Map<string, string>;
  readonly #revision: number;
  #changed = false;

  private constructor(store: Store, files: Map<string, string>, revision: number) {
    this.#store = store;
    this.#files = files;
    this.#revision = revision;
  }

  static async load(store: Store): Promise<SharedFiles> {
    const { kv } = await store.get(IDENTITY_KEY);
    if (kv === undefined) return new SharedFiles(store, new Map(), 0);
    return new SharedFiles(store, parseFiles(kv.value), kv.modRevision);
  }

  read(name: string): Promise<string | undefined> {
    return Promise.resolve(isPrivate(name) ? undefined : this.#files.get(name));
  }

  write(name: string, content: string): Promise<void> {
    if (!isPrivate(name)) {
      this.#files.set(name, content);
      this.#changed = true;
    }
    return Promise.resolve();
  }

  /** Returns false if another server was faster; the created parts must then not be used. */
  async save(): Promise<boolean> {
    if (!this.#changed) return true;
    const value = Buffer.from(JSON.stringify({ files: Object.fromEntries(this.#files) }));
    const written =
      this.#revision === 0
        ? await this.#store.create(IDENTITY_KEY, value)
        : await this.#store.update(IDENTITY_KEY, value, this.#revision);
    return written.succeeded;
  }
}

/** The identity in the store. One server creates missing and expiring parts and stores them. */
export async function sharedIdentity(store: Store, options: Omit<IdentityOptions, 'directory'>): Promise<Identity> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const files = await SharedFiles.load(store);
    const prepared = await prepareIdentity({ ...options, directory: files });
    await prepared.keep();
    if (await files.save()) return prepared.identity;
  }
  throw new CommandError('the certificates in the store change all the time', 'Is another program writing there?');
}

function parseFiles(value: Uint8Array): Map<string, string> {
  const parsed: unknown = JSON.parse(Buffer.from(value).toString());
  const files = typeof parsed === 'object' && parsed !== null && 'files' in parsed ? parsed.files : undefined;
  const entries = Object.entries(typeof files === 'object' && files !== null ? files : {});
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
