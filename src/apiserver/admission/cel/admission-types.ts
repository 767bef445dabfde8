import { type CelType, celTypes, listOf, mapOf, objectOf } from '../../../api/cel/cel-type.ts';

const { bool, dyn, int, string, timestamp } = celTypes;

const kindType = objectOf('kubernetes.GroupVersionKind', { group: string, version: string, kind: string });
const resourceType = objectOf('kubernetes.GroupVersionResource', { group: string, version: string, resource: string });

/** The type of `request`: the fields of a webhook's review request without its objects (`plugin/cel.BuildRequestType`). */
export const requestType: CelType = objectOf('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: string,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: objectOf('kubernetes.UserInfo', {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

/** The type of `namespaceObject`: the fields of a Namespace that expressions can read (`plugin/cel.BuildNamespaceType`). */
export const namespaceType: CelType = objectOf('kubernetes.Namespace', {
  metadata: objectOf('kubernetes.NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf(string) }),
  status: objectOf('kubernetes.NamespaceStatus', {
    conditions: listOf(
      objectOf('kubernetes.NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
});
