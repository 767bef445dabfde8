import { copyJson } from '../../codec/json/json-value.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, isEmptyMap, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultTemplateOf } from './defaults-pod.ts';
import { defaultPersistentVolumeClaim } from './defaults-storage.ts';

const ROLLING_UPDATE = 'RollingUpdate';

export function defaultDeployment(deployment: Fields): void {
  const spec = ensureObjectAt(deployment, 'spec');
  setIfUnset(spec, 'replicas', 1);
  const strategy = ensureObjectAt(spec, 'strategy');
  setIfZero(strategy, 'type', ROLLING_UPDATE);
  if (strategy['type'] === ROLLING_UPDATE) {
    const rollingUpdate = ensureObjectAt(strategy, 'rollingUpdate');
    setIfUnset(rollingUpdate, 'maxUnavailable', '25%');
    setIfUnset(rollingUpdate, 'maxSurge', '25%');
  }
  setIfUnset(spec, 'revisionHistoryLimit', 10);
  setIfUnset(spec, 'progressDeadlineSeconds', 600);
  defaultTemplateOf(spec);
}

export function defaultReplicaSet(replicaSet: Fields): void {
  const spec = ensureObjectAt(replicaSet, 'spec');
  setIfUnset(spec, 'replicas', 1);
  defaultTemplateOf(spec);
}

export function defaultStatefulSet(statefulSet: Fields): void {
  const spec = ensureObjectAt(statefulSet, 'spec');
  setIfZero(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = ensureObjectAt(spec, 'updateStrategy');
  if (strategy['type'] === undefined || strategy['type'] === '') {
    strategy['type'] = ROLLING_UPDATE;
    ensureObjectAt(strategy, 'rollingUpdate');
  }
  // A strategy with a type but no parameters stays without parameters.
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  if (strategy['type'] === ROLLING_UPDATE && rollingUpdate !== undefined) setIfUnset(rollingUpdate, 'partition', 0);
  const retention = ensureObjectAt(spec, 'persistentVolumeClaimRetentionPolicy');
  setIfZero(retention, 'whenDeleted', 'Retain');
  setIfZero(retention, 'whenScaled', 'Retain');
  setIfUnset(spec, 'replicas', 1);
  setIfUnset(spec, 'revisionHistoryLimit', 10);
  defaultTemplateOf(spec);
  for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
    setIfZero(claim, 'kind', 'PersistentVolumeClaim');
    setIfZero(claim, 'apiVersion', 'v1');
    defaultPersistentVolumeClaim(claim);
  }
}

export function defaultDaemonSet(daemonSet: Fields): void {
  const spec = ensureObjectAt(daemonSet, 'spec');
  const strategy = ensureObjectAt(spec, 'updateStrategy');
  setIfZero(strategy, 'type', ROLLING_UPDATE);
  if (strategy['type'] === ROLLING_UPDATE) {
    const rollingUpdate = ensureObjectAt(strategy, 'rollingUpdate');
    setIfUnset(rollingUpdate, 'maxUnavailable', 1);
    setIfUnset(rollingUpdate, 'maxSurge', 0);
  }
  setIfUnset(spec, 'revisionHistoryLimit', 10);
  defaultTemplateOf(spec);
}

export function defaultReplicationController(controller: Fields): void {
  const spec = ensureObjectAt(controller, 'spec');
  setIfUnset(spec, 'replicas', 1);
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (labels !== undefined) {
    if (isEmptyMap(spec['selector'])) spec['selector'] = copyJson(labels);
    labelFromTemplate(controller, labels);
  }
  defaultTemplateOf(spec);
}

/** An object without labels takes the labels of its pods. */
export function labelFromTemplate(object: Fields, labels: Fields | undefined): void {
  const metadata = ensureObjectAt(object, 'metadata');
  if (labels !== undefined && isEmptyMap(metadata['labels'])) metadata['labels'] = copyJson(labels);
}
