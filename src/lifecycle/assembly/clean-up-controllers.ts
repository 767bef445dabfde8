import { NODES, PODS } from '../pods/pod-object.ts';
import { type ControllerEntry, given } from './controller-entry.ts';

const JOBS = { group: 'batch', version: 'v1', resource: 'jobs' };
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** The controllers that delete what nobody needs any more. */
export const cleanUpControllers = {
  'pod-garbage-collector-controller': {
    alias: 'podgc',
    wakes: [{ gvr: PODS }],
    load: async (context, { terminatedPodThreshold }) => {
      const { PodGcController } = await import('../podgc/podgc-controller.ts');
      return new PodGcController({ ...context, ...given({ terminatedPodThreshold }) });
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
    load: async (context) => {
      const { CsrCleanerController } = await import('../csr-cleaner/csr-cleaner-controller.ts');
      return new CsrCleanerController(context);
    },
  },
  'node-lease-cleaner-controller': {
    alias: 'node-lease-cleaner',
    wakes: [{ gvr: LEASES, namespace: 'kube-node-lease' }],
    load: async (context) => {
      const { NodeLeaseController } = await import('../node-lease/node-lease-controller.ts');
      return new NodeLeaseController(context);
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
} as const satisfies Record<string, ControllerEntry>;
