import type { Service } from '../../base/service.ts';
import { type ControllerContext, ObjectPerNamespace } from '../kit/object-per-namespace.ts';
import { decideServiceAccount, DEFAULT_SERVICE_ACCOUNT } from './default-service-account-reconcile.ts';

export interface DefaultServiceAccountControllerOptions extends ControllerContext {
  /** Number of namespaces that are processed concurrently. */
  readonly concurrentServiceAccountSyncs?: number;
}

/** Creates ServiceAccount `default` in every active namespace, and again after its deletion (LIFE-480, LIFE-482). */
export class DefaultServiceAccountController implements Service {
  readonly #loop: ObjectPerNamespace;

  constructor({ concurrentServiceAccountSyncs = 5, ...context }: DefaultServiceAccountControllerOptions) {
    this.#loop = new ObjectPerNamespace({
      ...context,
      name: 'serviceaccount',
      workers: concurrentServiceAccountSyncs,
      gvr: { group: '', version: 'v1', resource: 'serviceaccounts' },
      objectName: DEFAULT_SERVICE_ACCOUNT,
      decide: decideServiceAccount,
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }
}
