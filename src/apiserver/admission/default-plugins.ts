import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Features } from '../emulation/features.ts';
import type { ResourceLookup } from '../registry/resource-store.ts';
import type { Store } from '../storage/interface.ts';
import type { AdmissionPlugin } from './chain/admission-chain.ts';
import type { WebhookClient } from '../webhook-client/webhook-client.ts';
import { lazyMatchConditions } from './cel/lazy-match-conditions.ts';
import { CertificateApproval, CertificateSigning } from './plugins/certificate-signers.ts';
import { CertificateSubjectRestriction } from './plugins/certificate-subject-restriction.ts';
import { DefaultIngressClass } from './plugins/default-ingress-class.ts';
import { DefaultStorageClass } from './plugins/default-storage-class.ts';
import { DefaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { LimitRanger } from './plugins/limit-ranger.ts';
import { NamespaceReader } from './matching/namespace-reader.ts';
import { NamespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { OwnerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts';
import type { ImplementedPlugin } from './plugin-selection.ts';
import { MutatingAdmissionPolicyPlugin } from './policy/mutating-admission-policy.ts';
import { MUTATING_POLICIES } from './policy/mutating-policy.ts';
import { PolicySource } from './policy/policy-source.ts';
import { BINDINGS, POLICIES } from './policy/validating-policy.ts';
import { ValidatingAdmissionPolicyPlugin } from './policy/validating-admission-policy.ts';
import { PodPriority } from './plugins/pod-priority.ts';
import { ResourceQuota } from './plugins/resource-quota.ts';
import { PersistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { RuntimeClass } from './plugins/runtime-class.ts';
import { ServiceAccount } from './plugins/service-account.ts';
import { StorageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import type { WebhookType } from './webhook/configuration.ts';
import { MutatingAdmissionWebhook } from './webhook/mutating-admission-webhook.ts';
import { ValidatingAdmissionWebhook } from './webhook/validating-admission-webhook.ts';
import { WebhookDispatch } from './webhook/webhook-dispatch.ts';
import { WebhookMetrics } from './webhook/webhook-metrics.ts';
import { WebhookSource } from './webhook/webhook-source.ts';

/** The dependencies of plug-ins. */
export interface PluginEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly authorizer: Authorizer;
  readonly webhooks: WebhookClient;
  readonly features: Features;
  /** The other resources of the server, for plug-ins that read another version. */
  readonly lookup: ResourceLookup;
  /** The resources that are served at the moment of the call. */
  readonly resources: () => readonly ResourceInfo[];
}

/** The plug-ins of this server, in the order of API-340. A new plug-in is a new row. */
const factories: readonly (readonly [ImplementedPlugin, (environment: PluginEnvironment) => AdmissionPlugin])[] = [
  [
    'NamespaceLifecycle',
    ({ store, features }) =>
      new NamespaceLifecycle(store, features.updatesWithoutNamespace ? 'always' : 'with namespace'),
  ],
  ['LimitRanger', (environment) => new LimitRanger(environment)],
  ['ServiceAccount', (environment) => new ServiceAccount(environment)],
  ['Priority', (environment) => new PodPriority(environment)],
  ['DefaultTolerationSeconds', () => new DefaultTolerationSeconds()],
  ['DefaultStorageClass', (environment) => new DefaultStorageClass(environment)],
  ['StorageObjectInUseProtection', () => new StorageObjectInUseProtection()],
  ['OwnerReferencesPermissionEnforcement', (environment) => new OwnerReferencesPermissionEnforcement(environment)],
  ['PersistentVolumeClaimResize', (environment) => new PersistentVolumeClaimResize(environment)],
  ['RuntimeClass', (environment) => new RuntimeClass(environment)],
  ['CertificateApproval', (environment) => new CertificateApproval(environment)],
  ['CertificateSigning', (environment) => new CertificateSigning(environment)],
  ['CertificateSubjectRestriction', () => new CertificateSubjectRestriction()],
  ['DefaultIngressClass', (environment) => new DefaultIngressClass(environment)],
  [
    'MutatingAdmissionPolicy',
    (environment) =>
      new MutatingAdmissionPolicyPlugin(new PolicySource(environment, MUTATING_POLICIES), {
        ...environment,
        namespaces: new NamespaceReader(environment.store),
      }),
  ],
  [
    'MutatingAdmissionWebhook',
    (environment) => new MutatingAdmissionWebhook(...webhookParts(environment, 'mutating'), environment.clock),
  ],
  [
    'ValidatingAdmissionPolicy',
    (environment) =>
      new ValidatingAdmissionPolicyPlugin(new PolicySource(environment, { policies: POLICIES, bindings: BINDINGS }), {
        ...environment,
        namespaces: new NamespaceReader(environment.store),
      }),
  ],
  [
    'ValidatingAdmissionWebhook',
    (environment) => new ValidatingAdmissionWebhook(...webhookParts(environment, 'validating')),
  ],
  ['ResourceQuota', (environment) => new ResourceQuota(environment)],
];

function webhookParts(environment: PluginEnvironment, type: WebhookType): [WebhookSource, WebhookDispatch] {
  const { store, metrics, webhooks: client } = environment;
  const dispatch = {
    ...environment,
    client,
    namespaces: new NamespaceReader(store),
    conditions: lazyMatchConditions(environment.authorizer),
    metrics: new WebhookMetrics(metrics),
  };
  return [new WebhookSource({ ...environment, type }), new WebhookDispatch(dispatch, type)];
}

/** The selected plug-ins, in their order. */
export function buildPlugins(
  environment: PluginEnvironment,
  selected: ReadonlySet<ImplementedPlugin>,
): AdmissionPlugin[] {
  return factories.filter(([name]) => selected.has(name)).map(([, make]) => make(environment));
}
