import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { type RegistryEnvironment, type ResourceLookup, ResourceStore } from './resource-store.ts';
import type { Strategy } from './strategy.ts';

export interface ResourceRegistration {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
}

/** The origin of a group, on which the answer for its unknown paths depends (API-004, API-005). */
export type GroupOrigin = 'builtin' | 'custom';

/** The resources that one server serves now. Built-in rows stay; custom ones come and go. */
export class ResourceRegistry implements ResourceLookup {
  readonly #environment: RegistryEnvironment;
  readonly #registrations = new Map<string, ResourceRegistration>();
  /** Created on first use, because most resources are never used. */
  readonly #stores = new Map<string, ResourceStore>();
  readonly #groups = new Map<string, GroupOrigin>();
  /** One for each part of the server that caches resources by name. */
  readonly #onRemoved: ((removed: GroupVersionResource) => void)[] = [];
  readonly #onAdded: ((added: ResourceInfo) => void)[] = [];
  #listed: readonly ResourceInfo[] | undefined;

  constructor(environment: RegistryEnvironment) {
    this.#environment = environment;
  }

  /** Adds or replaces. */
  add(registration: ResourceRegistration): void {
    const { info } = registration;
    const key = keyOf(info.group, info.version, info.resource);
    this.#registrations.set(key, registration);
    this.#forget(key);
    if (this.#groups.get(info.group) !== 'builtin') {
      this.#groups.set(info.group, info.typeName === undefined ? 'custom' : 'builtin');
    }
    this.#listed = undefined;
    for (const listener of this.#onAdded) listener(info);
  }

  remove(group: string, version: string, resource: string): void {
    const key = keyOf(group, version, resource);
    const removed = this.#registrations.delete(key);
    this.#forget(key);
    this.#listed = undefined;
    if (this.#groups.get(group) === 'custom' && !this.resources().some((info) => info.group === group)) {
      this.#groups.delete(group);
    }
    if (removed) for (const listener of this.#onRemoved) listener({ group, version, resource });
  }

  /** Calls the listener for each resource that stops being served, for the lifetime of the registry. */
  onRemoved(listener: (removed: GroupVersionResource) => void): void {
    this.#onRemoved.push(listener);
  }

  /** Calls the listener for each resource that is added or replaced from now on, for the lifetime of the registry. */
  onAdded(listener: (added: ResourceInfo) => void): void {
    this.#onAdded.push(listener);
  }

  #forget(key: string): void {
    this.#stores.get(key)?.retire();
    this.#stores.delete(key);
  }

  find(group: string, version: string, resource: string): ResourceStore | undefined {
    const key = keyOf(group, version, resource);
    const known = this.#stores.get(key);
    if (known !== undefined) return known;
    const registration = this.#registrations.get(key);
    if (registration === undefined) return undefined;
    const store = new ResourceStore({ ...registration, environment: this.#environment, siblings: this });
    this.#stores.set(key, store);
    return store;
  }

  groupOrigin(group: string): GroupOrigin | undefined {
    return this.#groups.get(group);
  }

  /** In the order of addition. The same array until something changes, so callers may cache by identity. */
  resources(): readonly ResourceInfo[] {
    return (this.#listed ??= [...this.#registrations.values()].map(({ info }) => info));
  }
}

function keyOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
