import type { KubeObject } from '../../api/meta/object-meta.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Names of the Secrets of its namespace that a pod uses: to pull images, in the environment of containers, and in volumes. */
export function secretsOfPod(pod: KubeObject): ReadonlySet<string> {
  const fields = at(pod, 'spec');
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((field) => listAt(fields, field));
  const names = [
    ...listAt(fields, 'imagePullSecrets').map((reference) => reference['name']),
    ...containers.flatMap((container) => [
      ...listAt(container, 'envFrom').map((source) => at(source, 'secretRef')['name']),
      ...listAt(container, 'env').map((variable) => at(at(variable, 'valueFrom'), 'secretKeyRef')['name']),
    ]),
    ...listAt(fields, 'volumes').flatMap(secretsOfVolume),
  ];
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''));
}

/** Sources of volumes that log in with a Secret. */
const WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function secretsOfVolume(volume: Fields): unknown[] {
  return [
    at(volume, 'secret')['secretName'],
    at(volume, 'azureFile')['secretName'],
    at(at(volume, 'csi'), 'nodePublishSecretRef')['name'],
    ...listAt(at(volume, 'projected'), 'sources').map((source) => at(source, 'secret')['name']),
    ...WITH_SECRET_REF.map((source) => at(at(volume, source), 'secretRef')['name']),
  ];
}

function at(object: Fields, field: string): Fields {
  return (object[field] ?? {}) as Fields;
}

function listAt(object: Fields, field: string): readonly Fields[] {
  return (object[field] ?? []) as readonly Fields[];
}
