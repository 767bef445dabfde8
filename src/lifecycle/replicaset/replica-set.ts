import type { Condition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { PodTemplate } from '../pods/pod-control.ts';

export interface ReplicaSetStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

/** The fields of a ReplicaSet that controllers read, and of a ReplicationController, which differs only in its selector. */
export interface ReplicaSet extends KubeObject {
  spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector?: unknown;
    readonly template?: PodTemplate;
  };
  status?: ReplicaSetStatus;
}
