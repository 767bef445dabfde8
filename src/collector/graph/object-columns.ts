/**
 * One object's metadata as numbers and byte ranges: what a reader of wire bytes can fill without allocating. Whoever
 * fills it calls `begin` first; every range points into `bytes`.
 *
 * A uid in the usual form (36 characters, lower case) is four words, the sixteen bytes in order, big-endian. Any other
 * uid is given as a range and `uidIsText`; the words are then ignored.
 */
export class ObjectColumns {
  bytes: Uint8Array = new Uint8Array(0);

  uid0 = 0;
  uid1 = 0;
  uid2 = 0;
  uid3 = 0;
  uidIsText = false;
  uidStart = 0;
  uidEnd = 0;

  nameStart = 0;
  nameEnd = 0;
  /** Equal to `namespaceEnd` for cluster-scoped objects. */
  namespaceStart = 0;
  namespaceEnd = 0;

  /** NaN when it is not a decimal number below 2^53. */
  resourceVersion = Number.NaN;

  deleting = false;
  foregroundFinalizer = false;
  orphanFinalizer = false;
  /** Any other finalizer. A reader that cannot tell says true: it only costs the shortcut of one GET. */
  otherFinalizers = true;

  ownerCount = 0;
  /** OWNER_FIELDS words per reference, see the OWNER_* offsets. Grows with `ownerCount`. */
  owners: Uint32Array = new Uint32Array(OWNER_FIELDS * 4);

  /** Empties everything but the arrays. */
  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.uid0 = this.uid1 = this.uid2 = this.uid3 = 0;
    this.uidIsText = false;
    this.uidStart = this.uidEnd = 0;
    this.nameStart = this.nameEnd = 0;
    this.namespaceStart = this.namespaceEnd = 0;
    this.resourceVersion = Number.NaN;
    this.deleting = false;
    this.foregroundFinalizer = false;
    this.orphanFinalizer = false;
    this.otherFinalizers = false;
    this.ownerCount = 0;
  }

  /** Makes room for one more reference, zeroed, and returns the index of its first word in `owners`. */
  addOwner(): number {
    const at = this.ownerCount * OWNER_FIELDS;
    if (at + OWNER_FIELDS > this.owners.length) {
      const grown = new Uint32Array(this.owners.length * 2);
      grown.set(this.owners);
      this.owners = grown;
    }
    this.owners.fill(0, at, at + OWNER_FIELDS);
    this.ownerCount++;
    return at;
  }
}

/** Words per reference in `ObjectColumns.owners`. */
export const OWNER_FIELDS = 13;
/** Four words of the uid. */
export const OWNER_UID = 0;
/** Start and end of the uid text; used when OWNER_FLAGS has OWNER_UID_IS_TEXT. */
export const OWNER_UID_RANGE = 4;
export const OWNER_NAME_RANGE = 6;
export const OWNER_KIND_RANGE = 8;
export const OWNER_API_VERSION_RANGE = 10;
export const OWNER_FLAGS = 12;

export const OWNER_UID_IS_TEXT = 1;
/** `controller` is present. */
export const OWNER_HAS_CONTROLLER = 2;
/** `controller` is true. */
export const OWNER_CONTROLLER = 4;
/** `blockOwnerDeletion` is present. */
export const OWNER_HAS_BLOCK = 8;
/** `blockOwnerDeletion` is true. */
export const OWNER_BLOCK = 16;
