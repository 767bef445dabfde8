import { SIMULATED } from '../../api/meta/annotations.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { BOOTSTRAP_TOKEN_TYPE } from '../../api/meta/token-secret.ts';
import { NODES, PODS } from '../pods/pod-object.ts';
import { type ControllerEntry, given } from './controller-entry.ts';

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' };
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' };
const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** A node that no simulator made. */
const isReal = ({ metadata }: KubeObject): boolean => metadata?.annotations?.[SIMULATED] !== 'true';

/** An account of an old version of Kubernetes, which made a Secret for it. */
const hasSecrets = (account: KubeObject): boolean => ((account['secrets'] as unknown[] | undefined)?.length ?? 0) > 0;

const isBootstrapToken = (secret: KubeObject): boolean => secret['type'] === BOOTSTRAP_TOKEN_TYPE;

/** The controllers that delete objects that are no longer needed. */
export const cleanUpControllers = {
  'pod-garbage-collector-controller': {
    alias: 'podgc',
    wakes: [{ gvr: PODS }],
    load: async (context, { terminatedPodThreshold, podGc }) => {
      const { PodGcController } = await import('../podgc/podgc-controller.ts');
      return new PodGcController({ ...context, ...podGc, ...given({ terminatedPodThreshold }) });
    },
  },
  'ttl-after-finished-controller': {
    alias: 'ttl-after-finished',
    wakes: [{ gvr: JOBS }],
    load: async (context, { concurrentTtlSyncs: workers }) => {
      const { TtlController } = await import('../ttl-after-finished/ttl-controller.ts');
      return new TtlController({ ...context, of: 'jobs', ...given({ workers }) });
    },
  },
  'certificatesigningrequest-cleaner-controller': {
    alias: 'csrcleaner',
    wakes: [{ gvr: { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' } }],
    load: async (context, { csrCleaner, compat }) => {
      const { CsrCleanerController } = await import('../csr-cleaner/csr-cleaner-controller.ts');
      return new CsrCleanerController({ ...context, ...csrCleaner, ...given({ compat }) });
    },
  },
  'podcertificaterequest-cleaner-controller': {
    alias: 'podcertificaterequest-cleaner-controller',
    wakes: [{ gvr: { group: 'certificates.k8s.io', version: 'v1beta1', resource: 'podcertificaterequests' } }],
    load: async (context) => {
      const { PodCertificateCleanerController } = await import('../csr-cleaner/pod-certificate-cleaner-controller.ts');
      return new PodCertificateCleanerController(context);
    },
  },
  'node-lease-cleaner-controller': {
    alias: 'node-lease-cleaner',
    // kube-controller-manager keeps such leases for ever.
    when: ({ compat }) => compat !== 'strict',
    wakes: [{ gvr: LEASES, namespace: 'kube-node-lease' }],
    load: async (context, { nodeLeaseMinAgeMs: minAgeMs }) => {
      const { NodeLeaseController } = await import('../node-lease/node-lease-controller.ts');
      return new NodeLeaseController({ ...context, ...given({ minAgeMs }) });
    },
  },
  'taint-eviction-controller': {
    alias: 'taint-eviction-controller',
    wakes: [{ gvr: NODES }],
    load: async (context) => {
      const { TaintEvictionController } = await import('../taint-eviction/taint-eviction-controller.ts');
      return new TaintEvictionController(context);
    },
  },
  'token-cleaner-controller': {
    alias: 'tokencleaner',
    wakes: [
      { gvr: { group: '', version: 'v1', resource: 'secrets' }, namespace: 'kube-system', when: isBootstrapToken },
    ],
    load: async (context) => {
      const { TokenCleanerController } = await import('../token-cleaner/token-cleaner-controller.ts');
      return new TokenCleanerController(context);
    },
  },
  'storageversion-garbage-collector-controller': {
    alias: 'storage-version-gc',
    wakes: [{ gvr: { group: 'internal.apiserver.k8s.io', version: 'v1alpha1', resource: 'storageversions' } }],
    load: async (context) => {
      const { StorageVersionController } = await import('../storage-version/storage-version-controller.ts');
      return new StorageVersionController(context);
    },
  },
  'persistentvolume-binder-controller': {
    alias: 'persistentvolume-binder',
    wakes: [{ gvr: VOLUMES }, { gvr: CLAIMS }],
    load: async (context, { hostPathDeleter: withHostPath, volumeSyncPeriodMs: syncPeriodMs, dryRun }) => {
      const { PersistentVolumeController } = await import('../persistentvolume/persistentvolume-controller.ts');
      const { hostPathDeleter } = await import('../persistentvolume/storage-deleter.ts');
      const isDry = dryRun?.has('persistentvolume-binder-controller') ?? false;
      const deleter = isDry ? { ...hostPathDeleter, delete: async () => {} } : hostPathDeleter;
      const deleters = withHostPath === true ? [deleter] : [];
      return new PersistentVolumeController({ ...context, deleters, ...given({ syncPeriodMs }) });
    },
  },
  'volumeattributesclass-protection-controller': {
    alias: 'volumeattributesclass-protection-controller',
    wakes: [{ gvr: { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattributesclasses' } }],
    load: async (context) => {
      const { ClassProtectionController } = await import('../volume-protection/class-protection-controller.ts');
      return new ClassProtectionController(context);
    },
  },
  'cloud-node-lifecycle-controller': {
    alias: 'cloud-node-lifecycle',
    // It runs only with a source of truth about machines; without one, no node is known to be gone.
    when: ({ nodeExistence }) => nodeExistence !== undefined,
    wakes: [{ gvr: NODES }],
    load: async (context, { nodeExistence }) => {
      const { NodeExistenceController } = await import('../node-existence/node-existence-controller.ts');
      if (nodeExistence === undefined) throw new Error('no source of instances is set');
      return new NodeExistenceController({ ...context, ...nodeExistence });
    },
  },
  'node-lifecycle-controller': {
    alias: 'nodelifecycle',
    when: ({ nodeHealth }) => nodeHealth?.mode !== 'off',
    wakes: [{ gvr: NODES, when: isReal }],
    load: async (context, { nodeHealth }) => {
      const { NodeLifecycleController } = await import('../node-lifecycle/node-lifecycle-controller.ts');
      return new NodeLifecycleController({ ...context, ...nodeHealth });
    },
  },
  'legacy-serviceaccount-token-cleaner-controller': {
    alias: 'legacy-service-account-token-cleaner',
    wakes: [{ gvr: { group: '', version: 'v1', resource: 'serviceaccounts' }, when: hasSecrets }],
    load: async (context, { legacyTokenCleanUpPeriodMs: cleanUpPeriodMs }) => {
      const { LegacyTokenCleanerController } =
        await import('../legacy-token-cleaner/legacy-token-cleaner-controller.ts');
      return new LegacyTokenCleanerController({ ...context, ...given({ cleanUpPeriodMs }) });
    },
  },
} as const satisfies Record<string, ControllerEntry>;
