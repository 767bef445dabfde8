import { REGISTRY_ROOT } from '../storage-keys.ts';

/** The range of all keys. */
export const ALL_KEYS = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) };

/**
 * Maps the store's keys under a configurable root: `/registry/…` is `<root>/…` in etcd, so that one etcd can hold several clusters
 * (kube-apiserver's `--etcd-prefix`).
 */
export class EtcdKeys {
  /** Begins and ends with a slash. */
  readonly root: string;

  /** `prefix` may have slashes at its start and end. */
  constructor(prefix: string) {
    const path = prefix.split('/').filter((part) => part !== '');
    this.root = path.length === 0 ? '/' : `/${path.join('/')}/`;
  }

  encode(key: string): Uint8Array {
    return Buffer.from(
      this.root === REGISTRY_ROOT || !key.startsWith(REGISTRY_ROOT) ? key : this.root + key.slice(REGISTRY_ROOT.length),
    );
  }

  /** Undefined for a foreign key. */
  decode(bytes: Uint8Array): string | undefined {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    if (!key.startsWith(this.root)) return undefined;
    return this.root === REGISTRY_ROOT ? key : REGISTRY_ROOT + key.slice(this.root.length);
  }

  /** The range of all keys that begin with `prefix` and are not below `start`. */
  range(prefix: string, start: string = prefix): { readonly key: Uint8Array; readonly rangeEnd: Uint8Array } {
    return { key: this.encode(start > prefix ? start : prefix), rangeEnd: endOfPrefix(this.encode(prefix)) };
  }
}

/** The first key after all keys that begin with these bytes: increments the last byte that can be incremented, and cuts the rest. */
export function endOfPrefix(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return ALL_KEYS.rangeEnd;
  const end = Uint8Array.from(prefix.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}
