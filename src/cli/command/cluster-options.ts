import type { CommandOption } from './command-option.ts';

/** Which cluster and namespace a command is about, as the command line gives it. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly requestTimeout: string;
}

/** kubectl's flags for the cluster, in every command that talks to one. */
export const clusterOptions: readonly CommandOption[] = [
  { flags: '-n, --namespace <NAMESPACE>', description: 'namespace; else that of the context' },
  { flags: '--context <NAME>', description: 'context of the kubeconfig' },
  { flags: '--kubeconfig <FILE>', description: 'kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod this runs in' },
  { flags: '--request-timeout <DURATION>', description: 'limit of one request', default: '60s' },
];

export const allNamespacesOption: CommandOption = {
  flags: '-A, --all-namespaces',
  description: 'all namespaces',
};
