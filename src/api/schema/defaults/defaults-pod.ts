import { defaultContainer } from './defaults-container.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultPodLevelResources } from './defaults-pod-resources.ts';
import { defaultResourceList, defaultResourceRequirements, fillResourceList } from './defaults-resources.ts';
import { defaultVolume } from './defaults-volume.ts';

/** Defaults that pods and pod templates share. */
function defaultPodSpec(spec: Fields): void {
  setIfZero(spec, 'dnsPolicy', 'ClusterFirst');
  setIfZero(spec, 'restartPolicy', 'Always');
  setIfUnset(spec, 'securityContext', {});
  setIfUnset(spec, 'terminationGracePeriodSeconds', 30);
  setIfZero(spec, 'schedulerName', 'default-scheduler');
  mirrorServiceAccount(spec);
  for (const volume of objectsAt(spec, 'volumes')) defaultVolume(volume);
  for (const field of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of objectsAt(spec, field)) defaultContainer(container);
  }
  defaultResourceList(spec, 'overhead');
  defaultResourceRequirements(spec);
}

/** `serviceAccount` is the old name of `serviceAccountName`. The new one wins, and both are set. */
function mirrorServiceAccount(spec: Fields): void {
  setIfZero(spec, 'serviceAccountName', spec['serviceAccount']);
  if (spec['serviceAccountName'] === undefined || spec['serviceAccountName'] === '') {
    delete spec['serviceAccountName'];
    delete spec['serviceAccount'];
  } else {
    spec['serviceAccount'] = spec['serviceAccountName'];
  }
}

/** `<owner>.template.spec`. */
export function defaultTemplateOf(owner: Fields | undefined): void {
  const template = objectAt(owner, 'template');
  if (template !== undefined) defaultPodSpec(ensureObjectAt(template, 'spec'));
}

/** Defaults of a pod beyond its template. Applying them to templates would change values that existing controllers compare. */
export function defaultPod(pod: Fields): void {
  const spec = ensureObjectAt(pod, 'spec');
  defaultPodSpec(spec);
  setIfUnset(spec, 'enableServiceLinks', true);
  for (const container of [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')]) {
    const resources = ensureObjectAt(container, 'resources');
    const limits = objectAt(resources, 'limits');
    if (limits !== undefined && Object.keys(limits).length > 0) {
      fillResourceList(ensureObjectAt(resources, 'requests'), limits);
    }
    if (spec['hostNetwork'] === true) {
      for (const port of objectsAt(container, 'ports')) setIfZero(port, 'hostPort', port['containerPort']);
    }
  }
  defaultPodLevelResources(spec);
}

export function defaultPodTemplate(podTemplate: Fields): void {
  defaultTemplateOf(podTemplate);
}
