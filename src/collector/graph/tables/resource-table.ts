import type { MonitoredResource } from '../../types/event.ts';
import type { KindTable } from './kind-table.ts';
import { RESOURCE_SHIFT, RESOURCES_OF_A_KIND } from './node-table.ts';

/** A monitored resource in the form that its nodes refer to. */
interface ResourceEntry {
  /** Plural: `pods`. */
  readonly resource: string;
  /** Id of its apiVersion and kind. */
  readonly kind: number;
  /** Its number among the resources of that kind, at its position in a node's flags. */
  readonly mark: number;
}

/** No field can contain it. */
const SEPARATOR = '\u0000';

/**
 * The monitored resources. Nearly every kind has one resource. But a server may serve several resources of one kind in one version, and
 * then the list of one says nothing about the objects of the others.
 * Bound: one entry for each monitored resource, however often its monitor is started, until the resource is forgotten.
 */
export class ResourceTable {
  readonly #kinds: KindTable;
  readonly #entries: Map<string, ResourceEntry>;
  /** Entries by kind. The index of an entry is its number among those of its kind. */
  readonly #ofKind: Map<number, (ResourceEntry | undefined)[]>;
  /** Entries by the object that names the resource, because events of several resources alternate. Cleared by `forget`. */
  #known = new WeakMap<MonitoredResource, ResourceEntry>();

  constructor(kinds: KindTable, from?: ResourceTable) {
    this.#kinds = kinds;
    this.#entries = new Map(from === undefined ? [] : from.#entries);
    this.#ofKind = new Map(from === undefined ? [] : [...from.#ofKind].map(([kind, entries]) => [kind, [...entries]]));
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entry of this apiVersion, kind and plural. Throws a RangeError if the kind already has 256. */
  of(resource: MonitoredResource): ResourceEntry {
    const known = this.#known.get(resource);
    if (known !== undefined) return known;
    const entry = this.#entries.get(keyOf(resource)) ?? this.#enter(resource);
    this.#known.set(resource, entry);
    return entry;
  }

  /** The plural of the resource with this kind and mark. */
  nameOf(kind: number, mark: number): string | undefined {
    return this.#ofKind.get(kind)?.[mark >>> RESOURCE_SHIFT]?.resource;
  }

  /** Removes a resource that no monitor watches and no observed node has. */
  forget(resource: MonitoredResource): void {
    this.#known = new WeakMap();
    const key = keyOf(resource);
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    const entries = this.#ofKind.get(entry.kind)!;
    entries[entry.mark >>> RESOURCE_SHIFT] = undefined;
    if (entries.every((each) => each === undefined)) this.#ofKind.delete(entry.kind);
    this.#kinds.release(entry.kind);
  }

  #enter({ apiVersion, kind: kindName, resource }: MonitoredResource): ResourceEntry {
    const known = this.#kinds.find(apiVersion, kindName);
    const entries = this.#ofKind.get(known) ?? [];
    const free = entries.indexOf(undefined);
    const number = free < 0 ? entries.length : free;
    if (number === RESOURCES_OF_A_KIND) throw new RangeError(`more than ${number} resources of kind ${kindName}`);
    const kind = this.#kinds.acquireText(apiVersion, kindName);
    const entry = { resource, kind, mark: number << RESOURCE_SHIFT };
    entries[number] = entry;
    this.#ofKind.set(kind, entries);
    this.#entries.set(keyOf({ apiVersion, kind: kindName, resource }), entry);
    return entry;
  }
}

function keyOf({ apiVersion, kind, resource }: MonitoredResource): string {
  return [apiVersion, kind, resource].join(SEPARATOR);
}
