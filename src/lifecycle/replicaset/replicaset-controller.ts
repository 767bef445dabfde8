import { ownerSelector } from '../ownership/owner-selector.ts';
import type { SharedContext } from '../kit/shared-informers.ts';
import { ReplicaController, type ReplicaKind } from './replica-controller.ts';

const REPLICA_SETS: ReplicaKind = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  gvr: { group: 'apps', version: 'v1', resource: 'replicasets' },
  queue: 'replicaset',
  component: 'replicaset-controller',
  selectorOf: ownerSelector,
  countsTerminating: true,
};

/** Runs kube-controller-manager's `replicaset-controller`. */
export class ReplicaSetController extends ReplicaController {
  constructor(context: SharedContext & { readonly workers?: number }) {
    super({ ...context, replicaKind: REPLICA_SETS });
  }
}
