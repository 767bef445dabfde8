import type { CommandOption } from './command-option.ts';

/** The flags that select the cluster and namespace of a command. */
export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly requestTimeout: string;
  readonly server?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly asUid?: string;
  readonly asGroup?: readonly string[];
  readonly asUserExtra?: readonly string[];
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: string | true;
}

/** kubectl's flags for the cluster, for every command that uses one. */
export const clusterOptions: readonly CommandOption[] = [
  { flags: '-n, --namespace <NAMESPACE>', description: 'namespace; else that of the context' },
  { flags: '--context <NAME>', description: 'context of the kubeconfig' },
  { flags: '--kubeconfig <FILE>', description: 'kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod this runs in' },
  { flags: '--request-timeout <DURATION>', description: 'limit of one request; 0: an hour', default: '60s' },
  { flags: '-s, --server <URL>', description: 'another API server than that of the context', hidden: true },
  { flags: '--cluster <NAME>', description: 'another cluster of the kubeconfig', hidden: true },
  { flags: '--user <NAME>', description: 'another user of the kubeconfig', hidden: true },
  { flags: '--token <TOKEN>', description: 'bearer token', hidden: true },
  { flags: '--username <NAME>', description: 'user name for basic authentication', hidden: true },
  { flags: '--password <PASSWORD>', description: 'password for basic authentication', hidden: true },
  { flags: '--as <USER>', description: 'user to impersonate', hidden: true },
  { flags: '--as-uid <UID>', description: 'uid of the user to impersonate', hidden: true },
  {
    flags: '--as-group <GROUP>',
    description: 'group to impersonate; may be given several times',
    repeatable: true,
    hidden: true,
  },
  {
    flags: '--as-user-extra <KEY=VALUE>',
    description: 'extra of the user to impersonate; may be given several times',
    repeatable: true,
    hidden: true,
  },
  {
    flags: '--certificate-authority <FILE>',
    description: 'authority that signs the certificate of the server',
    hidden: true,
  },
  { flags: '--client-certificate <FILE>', description: 'client certificate', hidden: true },
  { flags: '--client-key <FILE>', description: 'key of the client certificate', hidden: true },
  { flags: '--tls-server-name <NAME>', description: 'name in the certificate of the server', hidden: true },
  {
    flags: '--insecure-skip-tls-verify [BOOL]',
    description: 'do not check the certificate of the server',
    hidden: true,
  },
  { flags: '-v, --v <LEVEL>', description: 'accepted for kubectl; nothing more is logged', hidden: true },
];

export const allNamespacesOption: CommandOption = {
  flags: '-A, --all-namespaces',
  description: 'all namespaces',
};
