import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { type Backoff, exponentialBackoff } from '../../base/time/backoff.ts';
import type { Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { isRemovedByUpdate } from '../../api/deletion/after-update.ts';
import { betweenSteps } from '../registry/long-work.ts';
import type { ResourceRegistration, ResourceRegistry } from '../registry/resource-registry.ts';
import { type RegistryEnvironment, ResourceStore } from '../registry/resource-store.ts';
import { plainStrategy } from '../registry/strategy.ts';
import type { KeyValue, StoreEvent } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { StoredObject } from '../storage/stored-object.ts';
import type { WebhookClient } from '../webhook-client/webhook-client.ts';
import {
  type CustomResourceRegistrations,
  customResourceRegistrations,
  overlapsBuiltin,
} from './custom-resource-registrations.ts';
import { type Definition, isServed, isServedAlike, isTerminating, definitionOf } from './definition.ts';
import { decideFinalizer, type FinalizerFacts, withDeletionFailure } from './definition-finalizer.ts';
import { DefinitionTurns } from './definition-turns.ts';
import { nextStatus } from './establishing-controller.ts';
import { InstanceDeletion } from './instance-deletion.ts';
import { type ClaimedNames, claimedNames } from './naming-controller.ts';
import { WebhookConverter } from './webhook-converter.ts';

export interface DefinitionControllerOptions {
  readonly environment: RegistryEnvironment;
  readonly registry: ResourceRegistry;
  readonly logger: Logger;
  /** The client for conversion webhooks. */
  readonly webhooks: WebhookClient;
  /** The resource of the definitions themselves. */
  readonly info: ResourceInfo;
}

/** The last seen state of one definition. */
interface Known {
  definition: Definition;
  /** The version of the store that `definition` was read from. */
  revision: number;
  /** Its rows in the registry. */
  rows: readonly ResourceRegistration[];
  /** Deletes the objects; absent if the definition never served any. */
  storage: ResourceRegistration | undefined;
  /**
   * Shared by all rows of the definition, because requests that began under an earlier schema use it too. `terminating` stays true after
   * the deletion.
   */
  readonly state: { terminating: boolean };
}

/** Retry delay of a definition that failed; it doubles up to the cap. */
interface Pause {
  readonly backoff: Backoff;
  /** Absent once the retry has run. */
  timer: Timer | undefined;
}

const RETRY_MS = 250;
const RETRY_CAP_MS = 60_000;

/**
 * Serves the resources of definitions, and moves definitions through their states (API-453, 454, 456, 458). Pure functions decide, this
 * class acts. One round processes one definition at a time; deletions of objects run separately, because they may wait for others. The
 * number of definitions bounds the queue.
 */
export class DefinitionController {
  readonly #options: DefinitionControllerOptions;
  readonly #resource: ResourceStore;
  readonly #known = new Map<string, Known>();
  /** Names of definitions to process. */
  readonly #queue = new Set<string>();
  readonly #pauses = new Map<string, Pause>();
  readonly #deletions = new Map<string, InstanceDeletion>();
  readonly #turns: DefinitionTurns;
  #working = false;
  #stopped = false;

  constructor(options: DefinitionControllerOptions) {
    const { environment, registry, info } = options;
    this.#options = options;
    this.#turns = new DefinitionTurns(environment.clock);
    this.#resource = new ResourceStore({ info, strategy: plainStrategy, environment, siblings: registry });
  }

  /** Takes all existing definitions. */
  replace(items: readonly KeyValue[]): void {
    const names = new Set(items.map(({ key }) => this.#nameOf(key)));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#forget(name);
    for (const kv of items) this.#see(kv);
  }

  /** Takes changes in order. The served resources are updated when it returns. */
  observe(events: readonly StoreEvent[]): void {
    for (const { key, current } of events) {
      if (current !== undefined) this.#see(current);
      else this.#forget(this.#nameOf(key));
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#pauses.values()) timer?.cancel();
    for (const deletion of this.#deletions.values()) deletion.stop();
  }

  #nameOf(key: string): string {
    return key.slice(this.#resource.prefix('').length);
  }

  #see(kv: KeyValue): void {
    const name = this.#nameOf(kv.key);
    const definition = definitionOf(new StoredObject(kv).object());
    let before = this.#known.get(name);
    if (before !== undefined && before.definition.metadata?.uid !== definition.metadata?.uid) {
      // The definition was deleted and created again between two events, so all state belongs to the old one.
      this.#forget(name);
      before = undefined;
    }
    if (before !== undefined && isServedAlike(definition, before.definition)) {
      before.revision = kv.modRevision;
      this.#update(before, definition);
    } else {
      this.#serve(name, { definition, revision: kv.modRevision }, before);
    }
    this.#enqueue(name);
  }

  /** The same resources are served, but creates may be refused from now on, and discovery shows that. */
  #update(known: Known, definition: Definition): void {
    known.definition = definition;
    const terminating = isTerminating(definition);
    if (terminating === known.state.terminating) return;
    known.state.terminating = terminating;
    if (known.rows.length === 0) return;
    const registrations = this.#registrations(definition, known.state);
    known.rows = registrations?.served ?? [];
    for (const row of known.rows) this.#options.registry.add(row);
  }

  #serve(name: string, { definition, revision }: Pick<Known, 'definition' | 'revision'>, before?: Known): void {
    const { registry } = this.#options;
    const state = before?.state ?? { terminating: false };
    state.terminating = isTerminating(definition);
    const registrations =
      isServed(definition) && !overlapsBuiltin(definition) ? this.#registrations(definition, state) : undefined;
    const rows = registrations?.served ?? [];
    if (before !== undefined) this.#withdraw(before, rows);
    for (const row of rows) registry.add(row);
    this.#known.set(name, { definition, revision, rows, storage: registrations?.storage, state });
    if (before === undefined || before.definition.spec.names !== definition.spec.names) this.#enqueueGroup(definition);
  }

  #registrations(
    definition: Definition,
    state: { readonly terminating: boolean },
  ): CustomResourceRegistrations | undefined {
    const { environment, webhooks: client } = this.#options;
    return customResourceRegistrations(definition, {
      terminating: () => state.terminating,
      converterFor: (conversion) => new WebhookConverter({ client, random: environment.random, conversion }),
    });
  }

  #forget(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    known.state.terminating = true;
    this.#pauses.get(name)?.timer?.cancel();
    this.#pauses.delete(name);
    this.#deletions.get(name)?.stop();
    this.#deletions.delete(name);
    this.#withdraw(known, []);
    // Its names are free now, so other definitions of the group may claim them.
    this.#enqueueGroup(known.definition);
  }

  /** Removes rows that are no longer served and ends their watches, which use the old schema (API-458). */
  #withdraw({ rows }: Known, next: readonly ResourceRegistration[]): void {
    const { registry, environment } = this.#options;
    const kept = new Set(next.map(({ info }) => `${info.version}/${info.resource}`));
    for (const { info } of rows) {
      if (!kept.has(`${info.version}/${info.resource}`)) registry.remove(info.group, info.version, info.resource);
    }
    const [row] = rows;
    if (row !== undefined) environment.watchCaches.drop(resourcePrefix(row.info));
  }

  #enqueueGroup({ spec }: Definition): void {
    for (const [name, { definition }] of this.#known) if (definition.spec.group === spec.group) this.#enqueue(name);
  }

  #enqueue(name: string): void {
    if (this.#stopped) return;
    this.#queue.add(name);
    if (this.#working) return;
    this.#working = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    // Waits, so that it does not run inside the store's call that delivered the change.
    await Promise.resolve();
    for (const name of this.#queue) {
      await this.#turns.pass();
      if (this.#stopped) break;
      this.#queue.delete(name);
      if (this.#pauses.get(name)?.timer !== undefined) continue;
      try {
        await this.#reconcile(name);
      } catch (error) {
        this.#pause(name, error);
      }
    }
    this.#working = false;
  }

  #pause(name: string, error: unknown): void {
    if (this.#stopped || !this.#known.has(name)) return;
    const { environment, logger } = this.#options;
    const pause = this.#pauses.get(name) ?? { backoff: newBackoff(), timer: undefined };
    const delayMs = pause.backoff.next();
    logger.warn('failed to process a definition, will retry', { name, delayMs, error: messageOf(error) });
    pause.timer?.cancel();
    pause.timer = environment.clock.setTimer(delayMs, () => {
      pause.timer = undefined;
      this.#enqueue(name);
    });
    this.#pauses.set(name, pause);
  }

  /** Makes one step. The event of the resulting write starts the next step. */
  async #reconcile(name: string): Promise<void> {
    const { store, clock } = this.#options.environment;
    const { kv } = await store.get(this.#resource.key('', name));
    const known = this.#known.get(name);
    if (kv === undefined || known === undefined) return;
    // A long definition is not parsed again, and others are answered before it is written.
    const seen = known.revision === kv.modRevision;
    const definition = seen ? known.definition : definitionOf(this.#resource.stored(kv).object());
    const pause = betweenSteps(clock, kv.value.length);
    if (pause !== undefined) await pause;
    if (this.#stopped) return;
    const status = nextStatus(definition, this.#claimedNames(definition), clock.now());
    if (status !== undefined) {
      await this.#write(kv, definition, { ...definition, status });
      return;
    }
    const facts: FinalizerFacts = {
      instances: this.#deletions.get(name)?.done === true ? 'gone' : 'unknown',
      overlap: overlapsBuiltin(definition) ? 'builtin' : 'none',
    };
    const decision = decideFinalizer(definition, facts, clock.now());
    if (decision.step === 'write') await this.#write(kv, definition, decision.next);
    else if (decision.step === 'deleteInstances') this.#deleteInstances(name, known);
  }

  /** If another write was first, its event triggers a new decision. */
  async #write(kv: KeyValue, previous: Definition, next: Definition): Promise<void> {
    const { store } = this.#options.environment;
    if (isRemovedByUpdate(previous, next)) await store.delete(kv.key, kv.modRevision);
    else await store.update(kv.key, await this.#resource.encode(next), kv.modRevision);
  }

  #claimedNames({ spec }: Definition): ClaimedNames {
    const inGroup = [...this.#known.values()].filter(({ definition }) => definition.spec.group === spec.group);
    return claimedNames(inGroup.map(({ definition }) => definition.status.acceptedNames));
  }

  #deleteInstances(name: string, { storage }: Known): void {
    if (storage === undefined || this.#deletions.has(name)) return;
    const { environment, registry } = this.#options;
    const deletion = new InstanceDeletion({
      resource: new ResourceStore({ ...storage, environment, siblings: registry }),
      onDone: () => this.#enqueue(name),
      onFailed: (error) => {
        this.#deletions.delete(name);
        this.#pause(name, error);
        this.#tellFailure(name, error).catch((again: unknown) => this.#pause(name, again));
      },
    });
    this.#deletions.set(name, deletion);
    deletion.start();
  }

  /** The message that people see until the retry. The next round restores the usual one. */
  async #tellFailure(name: string, error: unknown): Promise<void> {
    const { store, clock } = this.#options.environment;
    const { kv } = await store.get(this.#resource.key('', name));
    if (kv === undefined || this.#stopped) return;
    const definition = definitionOf(this.#resource.stored(kv).object());
    await this.#write(kv, definition, withDeletionFailure(definition, messageOf(error), clock.now()));
  }
}

function newBackoff(): Backoff {
  return exponentialBackoff({ baseMs: RETRY_MS, capMs: RETRY_CAP_MS });
}
