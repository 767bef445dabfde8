import type { Clock } from '../../../src/base/time/clock.ts';
import { silentLogger } from '../../../src/base/logs/logger.ts';
import { defaultLimits, EmbeddedStore, historyBound } from '../../../src/apiserver/storage/embedded/embedded-store.ts';
import type { KeyValue, Revision, Store } from '../../../src/apiserver/storage/interface.ts';
import { MultiVersionMap } from '../../../src/apiserver/storage/embedded/mvcc.ts';
import { storedSignature } from '../../../src/apiserver/storage/stored-json.ts';

/** More than any history writes (`etcdutl snapshot restore --bump-revision`). */
const BUMP = 1_000_000_000;

/** All that a store had at one revision, as a snapshot of etcd has it. */
export class StoreBackup {
  readonly #items: readonly KeyValue[];
  readonly revision: Revision;

  constructor(items: readonly KeyValue[], revision: Revision) {
    this.#items = items.toSorted((a, b) => a.modRevision - b.modRevision);
    this.revision = revision;
  }

  static async of(store: Store): Promise<StoreBackup> {
    const { items, revision } = await store.list('/');
    return new StoreBackup(items, revision);
  }

  /**
   * Opens a store in memory with the same keys at the same revisions. It has no older history: a server that has just been started does not
   * know it either, and refuses to continue a watch from there.
   */
  open({ clock, bump }: { readonly clock: Clock; readonly bump: boolean }): Store {
    const limits = defaultLimits;
    const map = new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature });
    map.beginRestore(this.revision + (bump ? BUMP : 0));
    for (const { key, value, createRevision, modRevision } of this.#items) {
      map.restore({ key, value: map.copyValue(value, 0, value.length), createRevision, modRevision });
    }
    map.endRestore();
    return new EmbeddedStore({ map, clock, logger: silentLogger, limits });
  }
}
