import type { KubeObject } from '../../../api/meta/object-meta.ts';
import {
  addLists,
  exceeded,
  formatResourceList,
  increaseOf,
  onlyNames,
  parseResourceList,
  resourceListFields,
  type ResourceList,
} from '../../../api/quota/resource-list.ts';
import { changesVolumeAttributesClass, isWithin, scopesOf } from '../../../api/quota/scopes.ts';
import { consumedNames, isCounted, unspecified, usageOf } from '../../../api/quota/usage.ts';
import { newConflict } from '../../../api/status-error.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { KeyValue, Store } from '../../storage/interface.ts';
import { objectKey } from '../../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../../storage/stored-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import { ByNamespace } from './by-namespace.ts';
import type { TableEnvironment } from './table-environment.ts';

const QUOTAS = { group: '', resource: 'resourcequotas', namespaced: true };

/** Maximum number of retries when another server or the quota controller has written the quota. */
const MAX_ATTEMPTS = 100;

interface Quota {
  readonly name: string;
  readonly scopes: ReturnType<typeof scopesOf>;
  readonly hard: ResourceList;
  readonly used: ResourceList;
}

/**
 * Keeps every namespace within its quotas (API-361, upstream `plugin/pkg/admission/resourcequota`). It adds the usage of a write to the
 * status of the quotas before the write, with the revision that was read as precondition, so that concurrent writes, also through other
 * servers, never exceed a quota. The quota controller corrects usage that was charged in vain or is free again.
 */
export class ResourceQuota implements AdmissionPlugin {
  readonly name = 'ResourceQuota';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #quotas: ByNamespace<Quota>;
  readonly #store: Store;
  readonly #clock: Clock;
  /**
   * The promise of the last charge in progress, by namespace, so that charges wait for each other instead of conflicting. At most one for
   * each request in flight.
   */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(environment: TableEnvironment) {
    this.#store = environment.store;
    this.#clock = environment.clock;
    this.#quotas = new ByNamespace(environment, QUOTAS.resource, quotaOf);
  }

  start(): Promise<void> {
    return this.#quotas.start();
  }

  stop(): void {
    this.#quotas.stop();
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { namespace, object } = attributes;
    const quotas = this.#quotas.in(namespace);
    if (quotas.size === 0 || object === undefined || !isCharged(attributes)) return undefined;
    const names = [...quotas.values()]
      .filter((quota) => this.#concerns(quota, attributes, object))
      .map(({ name }) => name);
    if (names.length === 0) return undefined;
    return this.#inTurn(namespace, () => this.#chargeAll(attributes, object, names));
  }

  #concerns({ scopes, hard }: Quota, { info }: AdmissionAttributes, object: KubeObject): boolean {
    return isWithin(info, object, scopes) && consumedNames(info, hard.keys()).size > 0;
  }

  async #inTurn(namespace: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(namespace);
    const mine = (before ?? Promise.resolve()).then(work);
    const settled = mine.catch(() => undefined);
    this.#turns.set(namespace, settled);
    try {
      await mine;
    } finally {
      if (this.#turns.get(namespace) === settled) this.#turns.delete(namespace);
    }
  }

  /** All quotas are checked before one is charged, so that a write that the last one refuses changes none. */
  async #chargeAll(attributes: AdmissionAttributes, object: KubeObject, names: readonly string[]): Promise<void> {
    for (const name of names) await this.#charged(attributes, object, name);
    if (attributes.dryRun) return;
    for (const name of names) await this.#charge(attributes, object, name);
  }

  async #charge(attributes: AdmissionAttributes, object: KubeObject, name: string): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const step = await this.#charged(attributes, object, name);
      if (step === undefined) return;
      const written = await this.#store.update(step.kv.key, encodeStored(step.next), step.kv.modRevision);
      if (written.succeeded) return;
    }
    throw newConflict(QUOTAS, name);
  }

  /** The quota after this write; undefined if there is nothing to charge. Throws the 403 if the write exceeds it. */
  async #charged(
    attributes: AdmissionAttributes,
    object: KubeObject,
    name: string,
  ): Promise<{ readonly kv: KeyValue; readonly next: KubeObject } | undefined> {
    const { info, namespace, oldObject } = attributes;
    const { kv } = await this.#store.get(objectKey(QUOTAS, namespace, name));
    if (kv === undefined) return undefined;
    const stored = new StoredObject(kv).object();
    const { scopes, hard, used } = quotaOf(stored);
    const limited = consumedNames(info, hard.keys());
    const unsaid = unspecified(info, object, limited);
    if (unsaid !== undefined) throw admissionForbidden(attributes, `failed quota: ${name}: ${unsaid}`);
    const uncounted = [...limited].filter((resource) => !used.has(resource));
    if (uncounted.length > 0) {
      const resources = [...limited].toSorted().join(',');
      throw admissionForbidden(attributes, `status unknown for quota: ${name}, resources: ${resources}`);
    }
    const now = this.#clock.now();
    const usage = usageOf(info, object, now);
    const before =
      oldObject !== undefined && isWithin(info, oldObject, scopes) ? usageOf(info, oldObject, now) : new Map();
    const requested = onlyNames(increaseOf(usage, before), limited);
    if (requested.size === 0) return undefined;
    const total = addLists(used, requested);
    const over = exceeded(onlyNames(total, new Set(requested.keys())), hard);
    if (over.size > 0) {
      const [asked, there, most] = [requested, used, hard].map((list) => formatResourceList(onlyNames(list, over)));
      const why = `exceeded quota: ${name}, requested: ${asked}, used: ${there}, limited: ${most}`;
      throw admissionForbidden(attributes, why);
    }
    const status = { ...(stored['status'] as object | undefined), used: resourceListFields(total) };
    return { kv, next: { ...stored, status } };
  }
}

/** Every object is charged on create; objects that can grow also on update. */
function isCharged({ info, operation, subresource, object, oldObject }: AdmissionAttributes): boolean {
  if (!info.namespaced || !isCounted(info)) return false;
  if (operation === 'CREATE') return subresource === '';
  if (info.group !== '' || object === undefined || oldObject === undefined) return false;
  if (info.resource === 'pods')
    return subresource === 'resize' || (subresource === '' && endsDifferently(object, oldObject));
  if (info.resource === 'persistentvolumeclaims') {
    return subresource === '' || (subresource === 'status' && changesVolumeAttributesClass(oldObject, object));
  }
  return subresource === '' && info.resource === 'services';
}

/** Whether a pod moves between the scopes Terminating and NotTerminating. */
function endsDifferently(next: KubeObject, previous: KubeObject): boolean {
  const ends = ({ spec }: KubeObject): boolean =>
    (spec as { activeDeadlineSeconds?: number } | undefined)?.activeDeadlineSeconds !== undefined;
  return ends(next) !== ends(previous);
}

/** Reads the status, which the quota controller writes: a quota without a status limits nothing yet. */
function quotaOf({ metadata, spec, status }: KubeObject): Quota {
  const { hard, used } = (status ?? {}) as { hard?: unknown; used?: unknown };
  return {
    name: metadata?.name ?? '',
    scopes: scopesOf(spec),
    hard: parseResourceList(hard),
    used: parseResourceList(used),
  };
}
