import { expect, it } from 'vitest';
import { invalidNamespaceEvent } from './invalid-namespace-event.ts';

it.each(['ns', ''])('COL-144 the Event of a reference across namespaces, from namespace "%s"', (namespace) => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'o', uid: 'uid-o' };
  const dependent = { apiVersion: 'v1', kind: 'Pod', name: 'd', uid: 'uid-d', namespace };
  const reason = 'OwnerRefInvalidNamespace';
  const report = { effect: 'reportInvalidNamespace', dependent, ownerReference: owner, reason } as const;
  expect(invalidNamespaceEvent(report)).toEqual({
    involvedObject: dependent,
    event: {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `ownerRef [apps/v1/Deployment, namespace: ${namespace}, name: o, uid: uid-o] does not exist in namespace "${namespace}"`,
    },
  });
});
