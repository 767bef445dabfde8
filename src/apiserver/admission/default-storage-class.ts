import type { KubeObject } from '../../api/meta/object-meta.ts';
import { LiveTable } from '../storage/live-table.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission-chain.ts';
import type { TableEnvironment } from './table-environment.ts';

const IS_DEFAULT = 'storageclass.kubernetes.io/is-default-class';
const IS_DEFAULT_BETA = 'storageclass.beta.kubernetes.io/is-default-class';
/** Where a claim named its class before it had a field for it. */
const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class';

interface Claim extends KubeObject {
  spec?: { storageClassName?: string };
}

interface StorageClass {
  readonly name: string;
  readonly isDefault: boolean;
  readonly created: string;
}

/** A claim that asks for no class gets the default one, if there is one (API-341). Of several the newest counts. */
export class DefaultStorageClass implements AdmissionPlugin {
  readonly name = 'DefaultStorageClass';
  readonly #classes: LiveTable<StorageClass>;

  constructor(environment: TableEnvironment) {
    this.#classes = new LiveTable({
      ...environment,
      prefix: resourcePrefix({ group: 'storage.k8s.io', resource: 'storageclasses' }),
      read: ({ metadata = {} }: KubeObject) => ({
        name: metadata.name ?? '',
        isDefault: [IS_DEFAULT, IS_DEFAULT_BETA].some((key) => metadata.annotations?.[key] === 'true'),
        created: metadata.creationTimestamp ?? '',
      }),
    });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  admit({ info, subresource, operation, object }: AdmissionAttributes): void {
    if (operation !== 'CREATE' || info.group !== '' || info.resource !== 'persistentvolumeclaims') return;
    if (subresource !== '' || object === undefined) return;
    const claim = object as Claim;
    if (claim.spec?.storageClassName !== undefined || claim.metadata?.annotations?.[CLASS_BETA] !== undefined) return;
    const chosen = this.#default();
    if (chosen !== undefined) claim.spec = { ...claim.spec, storageClassName: chosen };
  }

  #default(): string | undefined {
    const classes = [...this.#classes.entries()].map(([, row]) => row).filter(({ isDefault }) => isDefault);
    return classes.toSorted(newestFirst)[0]?.name;
  }
}

function newestFirst(a: StorageClass, b: StorageClass): number {
  if (a.created !== b.created) return a.created > b.created ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
