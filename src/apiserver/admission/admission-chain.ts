import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { UserInfo } from '../authentication/user-info.ts';

/** What a plug-in gets to see of a write (apiserver `admission.Attributes`). */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly info: ResourceInfo;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty for a create by generateName and for the deletion of a collection. */
  readonly name: string;
  /** Next state; absent for DELETE. Mutating plug-ins change it in place. */
  readonly object?: KubeObject;
  /** Stored state; absent for CREATE. Never changed. */
  readonly oldObject?: KubeObject;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  warn(text: string): void;
}

/** Refuses by throwing a StatusError. What needs no I/O answers without a promise: most writes pass many plug-ins. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Mutating phase. */
  admit?(attributes: AdmissionAttributes): void | Promise<void>;
  /** Validating phase, after all mutation. */
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
}

/** Plug-ins in their order (API-340). */
export class AdmissionChain {
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.filter((plugin) => plugin.admit !== undefined);
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined);
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#mutating) {
      const pending = plugin.admit?.(attributes);
      if (pending !== undefined) await pending;
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#validating) {
      const pending = plugin.validate?.(attributes);
      if (pending !== undefined) await pending;
    }
  }
}
