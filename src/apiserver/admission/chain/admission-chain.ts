import type { AdmissionAttributes, AdmissionOperation } from './attributes.ts';

export type { AdmissionAttributes } from './attributes.ts';

export type CreatedObject = Pick<AdmissionAttributes, 'info' | 'namespace' | 'name'>;

/** A plug-in refuses by throwing a StatusError. A plug-in without I/O returns no promise, because most writes pass many plug-ins. */
export interface AdmissionPlugin {
  readonly name: string;
  /** The operations that it handles; all if absent (apiserver `admission.Handler`). */
  readonly operations?: readonly AdmissionOperation[];
  /** Mutating phase. */
  admit?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Validating phase, after all mutation and after the kind's own validation. */
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
  /**
   * Runs after a create has been stored, and refuses it by throwing if a condition that {@link admit} checked no longer holds. The caller
   * then deletes the object.
   */
  stored?(created: CreatedObject): void | Promise<void>;
  /** Resolves when the plug-in is ready for the first write. */
  start?(): Promise<void>;
  stop?(): void;
}

/** Plug-ins in their order (API-340). A refusal without I/O throws synchronously; the result is a promise only if a plug-in has to wait. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: ByOperation;
  readonly #validating: ByOperation;
  readonly #confirming: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = byOperation(plugins.filter((plugin) => plugin.admit !== undefined));
    this.#validating = byOperation(plugins.filter((plugin) => plugin.validate !== undefined));
    this.#confirming = plugins.filter((plugin) => plugin.stored !== undefined);
  }

  async start(): Promise<void> {
    await Promise.all(this.#plugins.map((plugin) => plugin.start?.()));
  }

  stop(): void {
    for (const plugin of this.#plugins) plugin.stop?.();
  }

  /** Runs all mutating plug-ins, and all of them a second time if one requests it (API-355). */
  admit(attributes: AdmissionAttributes): Pending {
    const plugins = this.#mutating[attributes.operation];
    const admitAll = (): Pending => inTurn(plugins, (plugin) => plugin.admit?.(attributes));
    return then(admitAll(), () => (attributes.reinvocation.begin() ? admitAll() : undefined));
  }

  validate(attributes: AdmissionAttributes): Pending {
    return inTurn(this.#validating[attributes.operation], (plugin) => plugin.validate?.(attributes));
  }

  stored(created: CreatedObject): Pending {
    return inTurn(this.#confirming, (plugin) => plugin.stored?.(created));
  }

  /** Runs both phases, for requests without validation in between: deletions, connections, objects that are not stored. */
  admitAndValidate(attributes: AdmissionAttributes): Pending {
    return then(this.admit(attributes), () => this.validate(attributes));
  }
}

type ByOperation = Readonly<Record<AdmissionOperation, readonly AdmissionPlugin[]>>;

function byOperation(plugins: readonly AdmissionPlugin[]): ByOperation {
  const of = (operation: AdmissionOperation) =>
    plugins.filter(({ operations }) => operations === undefined || operations.includes(operation));
  return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') };
}

/** Undefined if no plug-in had to wait; then the next step does not wait either. */
type Pending = Promise<void> | undefined;

function then(pending: Pending, next: () => Pending): Pending {
  return pending === undefined ? next() : pending.then(next);
}

/** Runs one plug-in after the other, and stops at the first refusal. */
function inTurn(
  plugins: readonly AdmissionPlugin[],
  ask: (plugin: AdmissionPlugin) => void | Promise<void>,
  start = 0,
): Pending {
  for (let i = start; i < plugins.length; i++) {
    const plugin = plugins[i];
    const pending = plugin && ask(plugin);
    if (pending !== undefined) return pending.then(() => inTurn(plugins, ask, i + 1));
  }
  return undefined;
}
