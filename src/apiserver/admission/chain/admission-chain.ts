import type { AdmissionAttributes, AdmissionOperation } from './attributes.ts';

export type { AdmissionAttributes } from './attributes.ts';

export type CreatedObject = Pick<AdmissionAttributes, 'info' | 'namespace' | 'name'>;

/** Refuses by throwing a StatusError. A plug-in without I/O answers without a promise: most writes pass many plug-ins. */
export interface AdmissionPlugin {
  readonly name: string;
  /** The operations it handles; absent = all (apiserver `admission.Handler`). */
  readonly operations?: readonly AdmissionOperation[];
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

/** Plug-ins in their order (API-340). A refusal without a wait throws; the result is a promise only where a plug-in has to wait. */
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

  /** All mutating plug-ins, and once more all of them if one asks for it (API-355). */
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

  /** Both phases, for what is not validated in between: deletions, connections, objects that are not stored. */
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

/** Nothing where no plug-in had to wait: then what follows need not wait either. */
type Pending = Promise<void> | undefined;

function then(pending: Pending, next: () => Pending): Pending {
  return pending === undefined ? next() : pending.then(next);
}

/** One plug-in after the other; the first that refuses is the last that is asked. */
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
