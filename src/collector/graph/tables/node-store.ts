import {
  OWNER_API_VERSION_RANGE,
  OWNER_FLAGS,
  OWNER_KIND_RANGE,
  OWNER_NAME_RANGE,
  OWNER_UID,
  OWNER_UID_IS_TEXT,
  OWNER_UID_RANGE,
} from '../../../api/codec/metadata/metadata-columns.ts';
import { formatUuid, UuidWords } from '../../../base/random/uuid.ts';
import type { ObjectColumns } from '../../types/object-columns.ts';
import type { Identity, Uid } from '../../types/identity.ts';
import { KindTable } from './kind-table.ts';
import { NameSlab, SLAB_NAME_MAX } from './name-slab.ts';
import {
  FLAGS,
  KIND,
  LONG_NAME,
  NAME,
  NAMESPACE,
  NodeTable,
  NONE,
  rowOf,
  STATE_FREE,
  STATE_GONE,
  STATE_MASK,
  STATE_OBSERVED,
  STATE_VIRTUAL,
  UID,
  UID_IS_TEXT,
} from './node-table.ts';
import { NodeTableBranch } from './node-table-branch.ts';
import { TextScratch } from './text-scratch.ts';
import { type NodeIndex, UidIndex } from './uid-index.ts';
import { UidIndexBranch } from './uid-index-branch.ts';
import { WordTable } from './word-table.ts';
import type { Copied } from './words-branch.ts';

/** The number of nodes that are prefetched at a time. */
const EXPECTED = 32;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The holder of a name: a node, or a reference with its own coordinates. */
type NameHolder = number;
export const holderOfNode = (node: number): NameHolder => node * 2;
export const holderOfEdge = (edge: number): NameHolder => edge * 2 + 1;

/**
 * Nodes without their references: uid, identity, state and flags, in the node table and the tables of shared texts.
 *
 * Invariants: a uid has at most one node; a node that is not free is in the uid index; every text that a node uses counts it as a user.
 * `ReferenceStore` holds references and their lists.
 */
export class NodeStore {
  readonly table: NodeTable;
  readonly kinds: KindTable;
  readonly namespaces: WordTable;
  /** Uids of an unusual form. */
  readonly #uidTexts: WordTable;
  readonly #index: NodeIndex;
  #slab: NameSlab;
  /** Names too long for the slab. Only references can have them, so they are few. */
  readonly #longNames: Map<NameHolder, Uint8Array>;
  readonly #scratch = new TextScratch();
  readonly #words = new UuidWords();
  readonly #expected = new Int32Array(EXPECTED);
  /** The value has no meaning; without it the compiler would remove the loads. */
  touched = 0;
  /** Nodes by state, indexed by STATE_*. */
  readonly #states: [number, number, number, number];

  constructor(seed: number, from?: Copied<NodeStore>) {
    if (from === undefined) {
      this.table = new NodeTable();
      this.kinds = new KindTable();
      this.namespaces = new WordTable();
      this.#uidTexts = new WordTable();
      this.#index = new UidIndex(this.table, seed);
      this.#slab = new NameSlab();
      this.#longNames = new Map();
      this.#states = [0, 0, 0, 0];
      return;
    }
    const { of, as } = from;
    const branches = as === 'branch';
    this.table = branches ? new NodeTableBranch(of.table) : of.table.clone();
    this.kinds = of.kinds.clone();
    this.namespaces = of.namespaces.clone();
    this.#uidTexts = of.#uidTexts.clone();
    this.#index = branches ? new UidIndexBranch(of.#index, this.table) : of.#index.clone(this.table);
    this.#slab = branches ? of.#slab.branch() : of.#slab.clone();
    this.#longNames = new Map(of.#longNames);
    this.#states = [...of.#states];
  }

  get virtualCount(): number {
    return this.#states[STATE_VIRTUAL];
  }

  get observedCount(): number {
    return this.#states[STATE_OBSERVED];
  }

  get goneCount(): number {
    return this.#states[STATE_GONE];
  }

  get sharedTextCount(): number {
    return this.kinds.size + this.namespaces.size + this.#uidTexts.size + this.#longNames.size;
  }

  /** Maximum ratio of the memory of names to the memory in use, beyond the first MiB. */
  get needsCompaction(): boolean {
    return this.#slab.freeUnits * 2 > this.#slab.usedUnits && this.#slab.allocatedBytes > 2 ** 20;
  }

  get allocatedBytes(): number {
    return this.table.allocatedBytes + this.#index.allocatedBytes + this.#slab.allocatedBytes;
  }

  /** Bytes of names, in use and free. */
  get nameBytes(): { readonly used: number; readonly free: number } {
    const free = this.#slab.freeUnits * 4;
    return { used: this.#slab.usedUnits * 4 - free, free };
  }

  state(node: number): number {
    return this.table.state(node);
  }

  setState(node: number, state: number): void {
    const flags = this.table.get(node, FLAGS);
    this.#states[(flags & STATE_MASK) as 0]--;
    this.#states[state as 0]++;
    this.table.set(node, FLAGS, (flags & ~STATE_MASK) | state);
  }

  has(node: number, bits: number): boolean {
    return this.table.has(node, bits);
  }

  /** The slot of a uid in any state except free, or -1. */
  find(uid: Uid): number {
    const { bytes, start, end } = this.#scratch.encode(uid);
    if (this.#words.parse(bytes, start, end)) {
      return this.#index.find(this.#words.w0, this.#words.w1, this.#words.w2, this.#words.w3, 0);
    }
    return this.#findText(bytes, start, end);
  }

  findObject(columns: ObjectColumns): number {
    if (columns.uidIsText) return this.#findText(columns.bytes, columns.uidStart, columns.uidEnd);
    return this.#index.find(columns.uid0 | 0, columns.uid1 | 0, columns.uid2 | 0, columns.uid3 | 0, 0);
  }

  /**
   * Prefetches the memory that `findObject` will read: first the index entries of all objects, then their rows. Independent loads run at
   * the same time.
   */
  expect(objects: readonly ObjectColumns[], count: number): void {
    const expected = this.#expected;
    const { rows } = this.table;
    for (let from = 0; from < count; from += EXPECTED) {
      const size = Math.min(count - from, EXPECTED);
      for (let i = 0; i < size; i++) {
        const columns = objects[from + i]!;
        expected[i] = this.#index.guess(columns.uid0 | 0, columns.uid1 | 0, columns.uid2 | 0, columns.uid3 | 0);
      }
      let touched = 0;
      for (let i = 0; i < size; i++) touched ^= rows[rowOf(expected[i]!)]!;
      this.touched ^= touched;
    }
  }

  /** `at` is the first word of the reference in `columns.owners`. */
  findOwner(columns: ObjectColumns, at: number): number {
    const { owners } = columns;
    if ((owners[at + OWNER_FLAGS]! & OWNER_UID_IS_TEXT) !== 0) {
      return this.#findText(columns.bytes, owners[at + OWNER_UID_RANGE]!, owners[at + OWNER_UID_RANGE + 1]!);
    }
    return this.#index.find(
      owners[at + OWNER_UID]! | 0,
      owners[at + OWNER_UID + 1]! | 0,
      owners[at + OWNER_UID + 2]! | 0,
      owners[at + OWNER_UID + 3]! | 0,
      0,
    );
  }

  /** Creates an observed node without references or dependents, for a uid that has no slot. */
  createObserved(columns: ObjectColumns, kind: number): number {
    const node = columns.uidIsText
      ? this.#createText(columns.bytes, columns.uidStart, columns.uidEnd)
      : this.#create(columns.uid0, columns.uid1, columns.uid2, columns.uid3, 0);
    const { bytes } = columns;
    this.kinds.retain(kind);
    this.table.set(node, KIND, kind);
    const namespace = this.namespaces.acquire(bytes, columns.namespaceStart, columns.namespaceEnd);
    this.table.set(node, NAMESPACE, namespace);
    this.#setName(node, bytes, columns.nameStart, columns.nameEnd);
    this.setState(node, STATE_OBSERVED);
    return node;
  }

  /** Creates a virtual node with a reference's coordinates and a dependent's namespace (COL-070). */
  createVirtual(columns: ObjectColumns, at: number, namespace: number): number {
    const { bytes, owners } = columns;
    const node =
      (owners[at + OWNER_FLAGS]! & OWNER_UID_IS_TEXT) !== 0
        ? this.#createText(bytes, owners[at + OWNER_UID_RANGE]!, owners[at + OWNER_UID_RANGE + 1]!)
        : this.#create(
            owners[at + OWNER_UID]!,
            owners[at + OWNER_UID + 1]!,
            owners[at + OWNER_UID + 2]!,
            owners[at + OWNER_UID + 3]!,
            0,
          );
    this.table.set(node, KIND, this.acquireOwnerKind(columns, at));
    this.namespaces.retain(namespace);
    this.table.set(node, NAMESPACE, namespace);
    this.#setName(node, bytes, owners[at + OWNER_NAME_RANGE]!, owners[at + OWNER_NAME_RANGE + 1]!);
    this.setState(node, STATE_VIRTUAL);
    return node;
  }

  /** Frees a node that has no references and no dependents. */
  free(node: number): void {
    const { table } = this;
    this.#index.remove(node);
    if (this.has(node, UID_IS_TEXT)) this.#uidTexts.release(table.get(node, UID));
    this.kinds.release(table.get(node, KIND));
    this.namespaces.release(table.get(node, NAMESPACE));
    this.releaseName(holderOfNode(node), table.get(node, NAME), table.nameLength(node));
    this.setState(node, STATE_FREE);
    this.#states[STATE_FREE] = 0;
    table.free(node);
  }

  acquireOwnerKind({ bytes, owners }: ObjectColumns, at: number): number {
    return this.kinds.acquire(
      bytes,
      owners[at + OWNER_API_VERSION_RANGE]!,
      owners[at + OWNER_API_VERSION_RANGE + 1]!,
      owners[at + OWNER_KIND_RANGE]!,
      owners[at + OWNER_KIND_RANGE + 1]!,
    );
  }

  ownerKindEquals(kind: number, { bytes, owners }: ObjectColumns, at: number): boolean {
    return this.kinds.equals(
      kind,
      bytes,
      owners[at + OWNER_API_VERSION_RANGE]!,
      owners[at + OWNER_API_VERSION_RANGE + 1]!,
      owners[at + OWNER_KIND_RANGE]!,
      owners[at + OWNER_KIND_RANGE + 1]!,
    );
  }

  /** True if the reference has the coordinates of the node (the uid is known to be equal). */
  ownerMatches(node: number, columns: ObjectColumns, at: number): boolean {
    const { table } = this;
    const { owners } = columns;
    return (
      this.nameEquals(
        holderOfNode(node),
        table.get(node, NAME),
        table.nameLength(node),
        columns.bytes,
        owners[at + OWNER_NAME_RANGE]!,
        owners[at + OWNER_NAME_RANGE + 1]!,
      ) && this.ownerKindEquals(table.get(node, KIND), columns, at)
    );
  }

  /** True if kind, name and namespace equal those of the object (the uid is known to be equal). */
  objectMatches(node: number, columns: ObjectColumns, kind: number): boolean {
    const { table } = this;
    const { bytes } = columns;
    return (
      table.get(node, KIND) === kind &&
      this.namespaces.equals(table.get(node, NAMESPACE), bytes, columns.namespaceStart, columns.namespaceEnd) &&
      this.nameEquals(
        holderOfNode(node),
        table.get(node, NAME),
        table.nameLength(node),
        bytes,
        columns.nameStart,
        columns.nameEnd,
      )
    );
  }

  /** Replaces kind, name and namespace. References that derive from the node must have been made explicit before. */
  setIdentity(node: number, identity: Pick<Identity, 'apiVersion' | 'kind' | 'name' | 'namespace'>): void {
    const { table } = this;
    const kind = this.kinds.acquireText(identity.apiVersion, identity.kind);
    this.kinds.release(table.get(node, KIND));
    table.set(node, KIND, kind);
    const namespaceText = this.#scratch.encode(identity.namespace);
    const namespace = this.namespaces.acquire(namespaceText.bytes, namespaceText.start, namespaceText.end);
    this.namespaces.release(table.get(node, NAMESPACE));
    table.set(node, NAMESPACE, namespace);
    this.releaseName(holderOfNode(node), table.get(node, NAME), table.nameLength(node));
    const name = this.#scratch.encode(identity.name);
    this.#setName(node, name.bytes, name.start, name.end);
  }

  uid(node: number): Uid {
    const { table } = this;
    const first = table.get(node, UID);
    if (table.has(node, UID_IS_TEXT)) return this.#uidTexts.text(first);
    return formatUuid(first, table.get(node, UID + 1), table.get(node, UID + 2), table.get(node, UID + 3));
  }

  namespace(node: number): string {
    return this.namespaces.text(this.table.get(node, NAMESPACE));
  }

  name(node: number): string {
    return this.nameText(holderOfNode(node), this.table.get(node, NAME), this.table.nameLength(node));
  }

  identity(node: number): Identity {
    const { apiVersion, kind } = this.kinds.words(this.table.get(node, KIND));
    return { apiVersion, kind, namespace: this.namespace(node), name: this.name(node), uid: this.uid(node) };
  }

  /** Stores a name for a holder and returns its address. The caller stores `nameLengthOf` with it. */
  storeName(holder: NameHolder, bytes: Uint8Array, start: number, end: number): number {
    if (end - start <= SLAB_NAME_MAX) return this.#slab.store(bytes, start, end);
    // Copies the bytes, because `slice` of a Buffer would share them.
    this.#longNames.set(holder, new Uint8Array(bytes.subarray(start, end)));
    return 0;
  }

  /** Stores a copy of a name for another holder. */
  copyName(to: NameHolder, from: NameHolder, address: number, length: number): number {
    if (length !== LONG_NAME) return this.#slab.move(this.#slab, address, length);
    this.#longNames.set(to, this.#longNames.get(from)!);
    return 0;
  }

  releaseName(holder: NameHolder, address: number, length: number): void {
    if (length === LONG_NAME) this.#longNames.delete(holder);
    else this.#slab.release(address, length);
  }

  nameEquals(
    holder: NameHolder,
    address: number,
    length: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (length === end - start && length !== LONG_NAME) return this.#slab.equals(address, bytes, start, end);
    if (length !== LONG_NAME) return false;
    const long = this.#longNames.get(holder)!;
    return long.length === end - start && long.every((byte, i) => byte === bytes[start + i]);
  }

  nameText(holder: NameHolder, address: number, length: number): string {
    return length === LONG_NAME ? utf8.decode(this.#longNames.get(holder)) : this.#slab.text(address, length);
  }

  /** Copies every name into a new slab; `others` copies those of other holders. O(nodes). */
  compactNames(others: (move: (address: number, length: number) => number) => void): void {
    const from = this.#slab;
    const to = new NameSlab();
    const { table } = this;
    const move = (address: number, length: number): number =>
      length === LONG_NAME ? 0 : to.move(from, address, length);
    for (let node = 0; node < table.end; node++) {
      if (table.state(node) === STATE_FREE) continue;
      table.set(node, NAME, move(table.get(node, NAME), table.nameLength(node)));
    }
    others(move);
    this.#slab = to;
  }

  #findText(bytes: Uint8Array, start: number, end: number): number {
    const text = this.#uidTexts.find(bytes, start, end);
    return text < 0 ? NONE : this.#index.find(text, 0, 0, 0, UID_IS_TEXT);
  }

  #createText(bytes: Uint8Array, start: number, end: number): number {
    return this.#create(this.#uidTexts.acquire(bytes, start, end), 0, 0, 0, UID_IS_TEXT);
  }

  #create(w0: number, w1: number, w2: number, w3: number, text: number): number {
    const { table } = this;
    const node = table.allocate();
    table.begin(node, w0, w1, w2, w3, text);
    this.#index.insert(node);
    return node;
  }

  #setName(node: number, bytes: Uint8Array, start: number, end: number): void {
    this.table.set(node, NAME, this.storeName(holderOfNode(node), bytes, start, end));
    this.table.setNameLength(node, nameLengthOf(start, end));
  }
}

/** The stored form of a name's length. */
export function nameLengthOf(start: number, end: number): number {
  return end - start <= SLAB_NAME_MAX ? end - start : LONG_NAME;
}
