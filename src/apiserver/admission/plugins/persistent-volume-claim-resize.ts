import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { increaseOf, parseResourceList } from '../../../api/quota/resource-list.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import type { TableEnvironment } from './table-environment.ts';

const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class';

interface Claim extends KubeObject {
  spec?: { storageClassName?: string; resources?: { requests?: unknown } };
  status?: { phase?: string };
}

/** Allows a claim to grow only if it is bound and its class allows expansion. */
export class PersistentVolumeClaimResize implements AdmissionPlugin {
  readonly name = 'PersistentVolumeClaimResize';
  readonly operations = ['UPDATE'] as const;
  /** Whether volumes of a class can grow, by class name. */
  readonly #classes: LiveTable<boolean>;

  constructor(environment: TableEnvironment) {
    this.#classes = new LiveTable({
      ...environment,
      prefix: resourcePrefix({ group: 'storage.k8s.io', resource: 'storageclasses' }),
      read: ({ allowVolumeExpansion }: KubeObject) => allowVolumeExpansion === true,
    });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  validate(attributes: AdmissionAttributes): void {
    const { info, subresource } = attributes;
    if (info.group !== '' || info.resource !== 'persistentvolumeclaims') return;
    const [next, previous] = [attributes.object, attributes.oldObject] as (Claim | undefined)[];
    if (subresource !== '' || next === undefined || previous === undefined || !grows(next, previous)) return;
    if (previous.status?.phase !== 'Bound') {
      throw admissionForbidden(attributes, 'Only bound persistent volume claims can be expanded');
    }
    const className = classOf(next);
    if (className !== '' && className === classOf(previous) && this.#classes.get(className) === true) return;
    const why =
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
    throw admissionForbidden(attributes, why);
  }
}

function grows(next: Claim, previous: Claim): boolean {
  const sizeOf = ({ spec }: Claim) => parseResourceList(spec?.resources?.requests);
  return increaseOf(sizeOf(next), sizeOf(previous)).has('storage');
}

function classOf({ metadata, spec }: Claim): string {
  return metadata?.annotations?.[CLASS_BETA] ?? spec?.storageClassName ?? '';
}
