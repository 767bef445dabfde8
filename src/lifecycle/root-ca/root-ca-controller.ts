import type { Service } from '../../base/service.ts';
import { type ControllerContext, ObjectPerNamespace } from '../kit/object-per-namespace.ts';
import { decideRootCa, ROOT_CA_CONFIG_MAP } from './root-ca-reconcile.ts';

export interface RootCaControllerOptions extends ControllerContext {
  /** PEM certificates by which clients verify this API server. */
  readonly rootCaPem: string;
  /** Number of namespaces that are processed concurrently. */
  readonly concurrentRootCaSyncs?: number;
}

/** Creates ConfigMap `kube-root-ca.crt` in every active namespace, and reverts changes to it (LIFE-481, LIFE-482). */
export class RootCaController implements Service {
  readonly #loop: ObjectPerNamespace;

  constructor({ rootCaPem, concurrentRootCaSyncs = 5, ...context }: RootCaControllerOptions) {
    this.#loop = new ObjectPerNamespace({
      ...context,
      name: 'root_ca_cert_publisher',
      workers: concurrentRootCaSyncs,
      gvr: { group: '', version: 'v1', resource: 'configmaps' },
      objectName: ROOT_CA_CONFIG_MAP,
      decide: (namespace, existing) => decideRootCa({ namespace, existing, rootCaPem }),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }
}
