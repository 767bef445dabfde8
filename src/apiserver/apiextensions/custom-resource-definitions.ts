import { findResource } from '../../api/kinds/builtin-resources.ts';
import { hasRules } from '../../api/structural/json-schema-props.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import type { RegistryEnvironment } from '../registry/resource-store.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { KeyValue, StoreEvent } from '../storage/interface.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';
import type { WebhookClient } from '../webhook-client/webhook-client.ts';
import { type Definition, DEFINITIONS, versionsOf } from './definition.ts';
import type { DefinitionController } from './definition-controller.ts';
import { type DefinitionRules, definitionStrategy, type RuleCheck } from './definition-strategy.ts';
import { DefinitionTurns } from './definition-turns.ts';

export interface CustomResourceDefinitionsOptions {
  readonly environment: RegistryEnvironment;
  readonly registry: ResourceRegistry;
  readonly logger: Logger;
  readonly webhooks: WebhookClient;
}

/**
 * The CustomResourceDefinitions of one server, which follow the store. Code that only definitions need is loaded with the first one, so
 * that a server without definitions starts fast (API-454).
 */
export class CustomResourceDefinitions {
  /** The strategy of the definitions themselves. */
  readonly strategy: Strategy;
  readonly #options: CustomResourceDefinitionsOptions;
  readonly #follower: StoreFollower;
  readonly #turns: DefinitionTurns;
  #loading: Promise<DefinitionController> | undefined;
  #controller: DefinitionController | undefined;
  #checkRules: RuleCheck | undefined;
  #state: 'running' | 'stopped' = 'running';

  constructor(options: CustomResourceDefinitionsOptions) {
    this.#options = options;
    this.#turns = new DefinitionTurns(options.environment.clock);
    this.strategy = definitionStrategy((definition) => this.#loadRules(definition));
    const { environment, logger } = options;
    this.#follower = new StoreFollower({
      store: environment.store,
      prefix: resourcePrefix(DEFINITIONS),
      clock: environment.clock,
      logger,
      replace: (items) => this.#replace(items),
      observe: (events) => this.#observe(events),
    });
  }

  /** Resolves when all stored definitions are served again. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#follower.stop();
    this.#controller?.stop();
  }

  async #replace(items: readonly KeyValue[]): Promise<void> {
    if (items.length > 0 || this.#controller !== undefined) (await this.#load()).replace(items);
  }

  /**
   * The store calls this before it answers the write. Every definition waits until the code is loaded, so the served resources have changed
   * when the answer is sent.
   */
  #observe(events: readonly StoreEvent[]): void {
    if (this.#controller !== undefined) this.#controller.observe(events);
    else void this.#load().then((controller) => controller.observe(events));
  }

  #load(): Promise<DefinitionController> {
    this.#loading ??= this.#create();
    return this.#loading;
  }

  async #create(): Promise<DefinitionController> {
    const { DefinitionController } = await import('./definition-controller.ts');
    const { environment, registry, logger, webhooks } = this.#options;
    const info = findResource(DEFINITIONS.group, 'v1', DEFINITIONS.resource);
    if (info === undefined) throw new Error('CustomResourceDefinitions are not served');
    this.#controller = new DefinitionController({ environment, registry, logger, webhooks, info });
    if (this.#state === 'stopped') this.#controller.stop();
    return this.#controller;
  }

  async #loadRules(definition: Definition): Promise<DefinitionRules> {
    const validation = await import('./definition-validation.ts');
    const { definitionWarnings } = await import('./definition-warnings.ts');
    await this.#loadRuleCheck(definition);
    await this.#load();
    await this.#turns.pass();
    // The rule check is loaded before a definition with rules is validated.
    const checkRules: RuleCheck = (schema, path) => this.#checkRules?.(schema, path) ?? [];
    return {
      validateDefinition: (each) => validation.validateDefinition(each, checkRules),
      validateDefinitionUpdate: (next, previous) => validation.validateDefinitionUpdate(next, previous, checkRules),
      validateDefinitionStatus: validation.validateDefinitionStatus,
      definitionWarnings,
    };
  }

  /** Expressions are a large part of the program, which a server without rules does not load (API-471). */
  async #loadRuleCheck({ spec }: Definition): Promise<void> {
    if (this.#checkRules !== undefined) return;
    const schemas = versionsOf(spec).map(({ schema }) => schema?.openAPIV3Schema);
    if (!schemas.some((schema) => schema !== undefined && hasRules(schema))) return;
    this.#checkRules = (await import('../../api/structural/rule-checks.ts')).checkRules;
  }
}
