import type { BootstrapObject } from '../../bootstrap/bootstrap-objects.ts';
import { binding, type SubjectText } from './policy-text.ts';

/** The subjects of kube-apiserver 1.36's bootstrap ClusterRoles, by binding. The role has the same name unless stated. */
const clusterBindings: readonly (readonly [string, ...SubjectText[]])[] = [
  ['cluster-admin', 'Group system:masters'],
  ['system:basic-user', 'Group system:authenticated'],
  ['system:discovery', 'Group system:authenticated'],
  ['system:kube-controller-manager', 'User system:kube-controller-manager'],
  ['system:kube-dns', 'ServiceAccount kube-system/kube-dns'],
  ['system:kube-scheduler', 'User system:kube-scheduler'],
  ['system:monitoring', 'Group system:monitoring'],
  ['system:node'],
  ['system:node-proxier', 'User system:kube-proxy'],
  ['system:public-info-viewer', 'Group system:authenticated', 'Group system:unauthenticated'],
  ['system:service-account-issuer-discovery', 'Group system:serviceaccounts'],
  ['system:volume-scheduler', 'User system:kube-scheduler'],
];

const CONTROLLER = 'system:controller:';

export function clusterRoleBindings(): readonly BootstrapObject[] {
  return clusterBindings.map(([name, ...subjects]) => binding(name, subjects));
}

/** Each controller's role is bound to its ServiceAccount. */
export function controllerRoleBindings(roles: readonly BootstrapObject[]): readonly BootstrapObject[] {
  return roles.map(({ object }) => {
    const name = object.metadata?.name ?? '';
    return binding(name, [`ServiceAccount kube-system/${name.slice(CONTROLLER.length)}`]);
  });
}

export function namespaceRoleBindings(): readonly BootstrapObject[] {
  const manager = 'User system:kube-controller-manager';
  const scheduler = 'User system:kube-scheduler';
  const signer = 'ServiceAccount kube-system/bootstrap-signer';
  const reader = 'extension-apiserver-authentication-reader';
  return [
    binding('kube-public/system:controller:bootstrap-signer', [signer]),
    binding('kube-system/system:controller:bootstrap-signer', [signer]),
    binding('kube-system/system:controller:cloud-provider', ['ServiceAccount kube-system/cloud-provider']),
    binding('kube-system/system:controller:token-cleaner', ['ServiceAccount kube-system/token-cleaner']),
    binding(`kube-system/system::${reader}`, [manager, scheduler], reader),
    binding('kube-system/system::leader-locking-kube-controller-manager', [
      manager,
      'ServiceAccount kube-system/kube-controller-manager',
      'ServiceAccount kube-system/leader-election-controller',
    ]),
    binding('kube-system/system::leader-locking-kube-scheduler', [
      scheduler,
      'ServiceAccount kube-system/kube-scheduler',
    ]),
  ];
}
