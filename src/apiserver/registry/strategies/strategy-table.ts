import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Random } from '../../../base/random/random.ts';
import type { ServedKinds } from '../../admission/policy/policy-type-checking.ts';
import type { Store } from '../../storage/interface.ts';
import { plainStrategy, type Strategy } from '../strategy.ts';
import { validatingPolicyBindingStrategy, validatingPolicyStrategy } from './admission-policy.ts';
import { certificateSigningRequestStrategy } from './certificate-signing-request.ts';
import { daemonSetStrategy } from './daemon-set.ts';
import { endpointSliceStrategy } from './endpoint-slice.ts';
import { jobStrategy } from './job.ts';
import { mutatingPolicyBindingStrategy, mutatingPolicyStrategy } from './mutating-policy.ts';
import { namespaceStrategy } from './namespace.ts';
import { nodeStrategy } from './node.ts';
import { podStrategy } from './pod.ts';
import { priorityClassStrategy } from './priority-class.ts';
import { secretStrategy } from './secret.ts';
import { ServiceAddresses } from './services/service-addresses.ts';
import type { ServiceRange } from './services/service-range.ts';
import { serviceStrategy } from './services/service.ts';
import { serviceAccountStrategy } from './service-account.ts';
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './volume.ts';
import { webhookConfigurationStrategy } from './webhook-configuration.ts';

/** Kinds whose `/status` does not change metadata (API-330). */
const protectedMetadata: Strategy = { statusKeepsMetadata: true };

const fixedRows: Readonly<Record<string, Strategy>> = {
  '/componentstatuses': { deprecation: 'v1 ComponentStatus is deprecated in v1.19+' },
  '/endpoints': { deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/persistentvolumeclaims': persistentVolumeClaimStrategy,
  '/persistentvolumes': persistentVolumeStrategy,
  '/pods': podStrategy,
  '/secrets': secretStrategy,
  '/serviceaccounts': serviceAccountStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'batch/jobs': jobStrategy,
  'certificates.k8s.io/certificatesigningrequests': certificateSigningRequestStrategy,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': mutatingPolicyStrategy(),
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': mutatingPolicyBindingStrategy(),
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookConfigurationStrategy('mutating'),
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': validatingPolicyBindingStrategy(),
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookConfigurationStrategy('validating'),
  'certificates.k8s.io/podcertificaterequests': protectedMetadata,
  'discovery.k8s.io/endpointslices': endpointSliceStrategy,
  'internal.apiserver.k8s.io/storageversions': protectedMetadata,
  'networking.k8s.io/servicecidrs': protectedMetadata,
  'resource.k8s.io/devicetaintrules': protectedMetadata,
  'resource.k8s.io/resourceclaims': protectedMetadata,
  'resource.k8s.io/resourcepoolstatusrequests': protectedMetadata,
  'scheduling.k8s.io/podgroups': protectedMetadata,
  'scheduling.k8s.io/priorityclasses': priorityClassStrategy,
  'storage.k8s.io/volumeattachments': protectedMetadata,
  'storagemigration.k8s.io/storageversionmigrations': protectedMetadata,
};

/** Strategies by group and resource; all other kinds have none. */
export function strategyTable(environment: {
  readonly store: Store;
  readonly random: Random;
  readonly clock: Clock;
  /** The strategy of CustomResourceDefinitions. */
  readonly definitions: Strategy;
  readonly served: ServedKinds;
  readonly serviceRange?: ServiceRange | undefined;
}): (info: ResourceInfo) => Strategy {
  const services = serviceStrategy(new ServiceAddresses(environment));
  const policies = validatingPolicyStrategy(environment.served);
  return ({ group, resource }) => {
    if (group === '' && resource === 'services') return services;
    if (group === 'apiextensions.k8s.io') return environment.definitions;
    if (group === 'admissionregistration.k8s.io' && resource === 'validatingadmissionpolicies') return policies;
    return fixedRows[`${group}/${resource}`] ?? plainStrategy;
  };
}
