import type { AdmissionAttributes } from './attributes.ts';

export type { AdmissionAttributes } from './attributes.ts';

export type CreatedObject = Pick<AdmissionAttributes, 'operation' | 'info' | 'namespace' | 'name'>;

/** Refuses by throwing a StatusError. What needs no I/O answers without a promise: most writes pass many plug-ins. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Mutating phase. */
  admit?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Validating phase, after all mutation and after the kind's own validation. */
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * After a create has been stored: refuses it by throwing when what {@link admit} has seen no longer holds. Whoever created the
   * object takes it back.
   */
  stored?(created: CreatedObject): void | Promise<void>;
  /** Resolves when the plug-in knows what it has to know before the first write. */
  start?(): Promise<void>;
  stop?(): void;
}

/** Plug-ins in their order (API-340). */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];
  readonly #confirming: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = plugins.filter((plugin) => plugin.admit !== undefined);
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined);
    this.#confirming = plugins.filter((plugin) => plugin.stored !== undefined);
  }

  async start(): Promise<void> {
    await Promise.all(this.#plugins.map((plugin) => plugin.start?.()));
  }

  stop(): void {
    for (const plugin of this.#plugins) plugin.stop?.();
  }

  /** All mutating plug-ins, and once more all of them if one asks for it (API-355). */
  async admit(attributes: AdmissionAttributes): Promise<void> {
    await this.#admitAll(attributes);
    if (attributes.reinvocation.begin()) await this.#admitAll(attributes);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#validating) {
      const pending = plugin.validate?.(attributes);
      if (pending !== undefined) await pending;
    }
  }

  async stored(created: CreatedObject): Promise<void> {
    for (const plugin of this.#confirming) {
      const pending = plugin.stored?.(created);
      if (pending !== undefined) await pending;
    }
  }

  /** Both phases, for what is not validated in between: deletions, connections, objects that are not stored. */
  async admitAndValidate(attributes: AdmissionAttributes): Promise<void> {
    await this.admit(attributes);
    await this.validate(attributes);
  }

  async #admitAll(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#mutating) {
      const pending = plugin.admit?.(attributes);
      if (pending !== undefined) await pending;
    }
  }
}
