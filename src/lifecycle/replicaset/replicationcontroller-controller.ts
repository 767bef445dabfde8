import { ownerMapSelector } from '../ownership/owner-selector.ts';
import type { SharedContext } from '../kit/shared-informers.ts';
import { ReplicaController, type ReplicaKind } from './replica-controller.ts';

const REPLICATION_CONTROLLERS: ReplicaKind = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  gvr: { group: '', version: 'v1', resource: 'replicationcontrollers' },
  queue: 'replicationmanager',
  component: 'replication-controller',
  selectorOf: ownerMapSelector,
  countsTerminating: false,
};

/** Runs kube-controller-manager's `replicationcontroller-controller`. */
export class ReplicationControllerController extends ReplicaController {
  constructor(context: SharedContext & { readonly workers?: number }) {
    super({ ...context, replicaKind: REPLICATION_CONTROLLERS });
  }
}
