import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { DefaultClasses } from './default-classes.ts';
import type { TableEnvironment } from './table-environment.ts';

/** The older form of a claim's class, from before the field. */
const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class';

interface Claim extends KubeObject {
  spec?: { storageClassName?: string };
}

/** Gives a claim without a class the default class, if there is one (API-341). */
export class DefaultStorageClass implements AdmissionPlugin {
  readonly name = 'DefaultStorageClass';
  readonly operations = ['CREATE'] as const;
  readonly #classes: DefaultClasses;

  constructor(environment: TableEnvironment) {
    this.#classes = new DefaultClasses(environment, {
      group: 'storage.k8s.io',
      resource: 'storageclasses',
      annotations: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
    });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  admit({ info, subresource, object }: AdmissionAttributes): void {
    if (info.group !== '' || info.resource !== 'persistentvolumeclaims') return;
    if (subresource !== '' || object === undefined) return;
    const claim = object as Claim;
    if (claim.spec?.storageClassName !== undefined || claim.metadata?.annotations?.[CLASS_BETA] !== undefined) return;
    const chosen = this.#classes.default;
    if (chosen !== undefined) claim.spec = { ...claim.spec, storageClassName: chosen };
  }
}
