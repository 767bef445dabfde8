import { onDemandControllers } from '../lifecycle/assembly/on-demand-controllers.ts';

/** Controllers that run from the start, by kube-controller-manager's names, each with its alias. */
export const fixedControllers = {
  'garbage-collector-controller': 'garbagecollector',
  'namespace-controller': 'namespace',
  'serviceaccount-controller': 'serviceaccount',
  'root-ca-certificate-publisher-controller': 'root-ca-cert-publisher',
  'serviceaccount-token-controller': 'serviceaccount-token',
  'clusterrole-aggregation-controller': 'clusterrole-aggregation',
  'resourcequota-controller': 'resourcequota',
  'persistentvolumeclaim-protection-controller': 'pvc-protection',
  'persistentvolume-protection-controller': 'pv-protection',
} as const;

export type FixedControllerName = keyof typeof fixedControllers;

/**
 * All controllers by kube-controller-manager's names, each with the short alias that kube-controller-manager still accepts
 * (`cmd/kube-controller-manager/names`): first those that run from the start, then those that start with the first object of their kind.
 */
export const knownControllers = { ...fixedControllers, ...onDemandControllers } as const;

export type ControllerName = keyof typeof knownControllers;

export const controllerNames: readonly ControllerName[] = Object.keys(knownControllers) as ControllerName[];

/**
 * Off unless named: `*` does not enable them. The first is so in kube-controller-manager too; the others need kinds that only servers with
 * an alpha or beta API have.
 */
export const offByDefault: ReadonlySet<ControllerName> = new Set<ControllerName>([
  'token-cleaner-controller',
  'podcertificaterequest-cleaner-controller',
  'storageversion-garbage-collector-controller',
]);
