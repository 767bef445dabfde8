import type { CommandOption } from '../command/command-option.ts';

/** The flags of every `kubegc node` command. */
export interface NodeFlags {
  readonly config?: readonly string[];
  readonly containerRuntimeEndpoint?: string;
  readonly runtimeRequestTimeout?: string;
  readonly imageGcHighThreshold?: string;
  readonly imageGcLowThreshold?: string;
  readonly minimumImageTtlDuration?: string;
  readonly minimumContainerTtlDuration?: string;
  readonly maximumDeadContainersPerContainer?: string;
  readonly maximumDeadContainers?: string;
  readonly accounting?: string;
  readonly protect?: readonly string[];
  readonly protectConfigmaps?: string;
  readonly stateFile?: string;
  readonly pods: string;
  readonly nodeName?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Names are those of the kubelet where it has the flag. */
export const nodeOptions: readonly CommandOption[] = [
  {
    flags: '--config <FILE>',
    description: 'NodeGCConfiguration or KubeletConfiguration; a later file wins over an earlier one',
    repeatable: true,
  },
  {
    flags: '--container-runtime-endpoint <URL>',
    description: 'socket of the runtime, unix:///…; else the first of the usual ones that is there',
  },
  { flags: '--runtime-request-timeout <DURATION>', description: 'limit of one call to the runtime (default 2m)' },
  {
    flags: '--image-gc-high-threshold <PERCENT>',
    description: 'use of the disk that starts a collection (default 85)',
  },
  { flags: '--image-gc-low-threshold <PERCENT>', description: 'use of the disk that ends a collection (default 80)' },
  { flags: '--minimum-image-ttl-duration <DURATION>', description: 'age below which an image stays (default 2m)' },
  {
    flags: '--minimum-container-ttl-duration <DURATION>',
    description: 'age below which a dead container stays (default 0s)',
  },
  {
    flags: '--maximum-dead-containers-per-container <N>',
    description: 'dead containers that each container of a pod keeps; below 0: all (default 1)',
  },
  {
    flags: '--maximum-dead-containers <N>',
    description: 'dead containers on the node; below 0: any number (default -1)',
  },
  {
    flags: '--accounting <HOW>',
    description: 'measured goes by the disk, kubelet by the sizes that the runtime reports (default measured)',
    choices: ['measured', 'kubelet'],
  },
  {
    flags: '--protect <REFERENCE>',
    description:
      'image that is never removed: a reference, a glob such as quay.io/team/*, a digest, an id, or label:SELECTOR on its labels',
    repeatable: true,
  },
  {
    flags: '--protect-configmaps <NAMESPACE>',
    description: 'ConfigMaps there with the label node.kubegc/protect-list are protect lists; needs --pods apiserver',
  },
  {
    flags: '--state-file <FILE>',
    description: 'where uses of images are remembered (default /var/lib/kubegc/node-state.json)',
  },
  {
    flags: '--pods <SOURCE>',
    description: 'which pods exist: none, apiserver, or file=FILE with a PodList',
    default: 'none',
  },
  { flags: '--node-name <NAME>', description: 'name of this node at the API server; else NODE_NAME, or the host name' },
  {
    flags: '--kubeconfig <FILE>',
    description: 'kubeconfig for --pods apiserver; else KUBECONFIG, ~/.kube/config, or the pod this runs in',
  },
  { flags: '--context <NAME>', description: 'context of the kubeconfig' },
];

export const outputOption: CommandOption = { flags: '-o, --output <FORMAT>', description: 'json', choices: ['json'] };
