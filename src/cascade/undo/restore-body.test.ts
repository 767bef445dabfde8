import { expect, it } from 'vitest';
import { restoreBody } from './restore-body.ts';

it('CAS-063 leaves out the protections of volumes, claims and classes, which the server adds anew', () => {
  const finalizers = ['pvc', 'pv', 'vac'].map((name) => `kubernetes.io/${name}-protection`);
  const { body, notes } = restoreBody(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', finalizers: [...finalizers, 'example.com/kept'] } },
    {
      recordId: 'r',
      served: { resource: 'configmaps', namespaced: true, statusSubresource: false, builtIn: true },
      finalizerServed: (finalizer) => finalizer === 'example.com/kept',
      ownerUid: () => undefined,
      serviceAccountUid: () => undefined,
      volumeComesBack: () => false,
    },
  );
  expect(body.metadata?.finalizers).toEqual(['example.com/kept']);
  expect(notes).toEqual([]);
});
