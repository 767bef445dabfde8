import { afterEach, beforeEach, expect, it } from 'vitest';
import { PodCertificateCleanerController } from '../../src/lifecycle/csr-cleaner/pod-certificate-cleaner-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const requests = gvrOf('podcertificaterequests', 'certificates.k8s.io', 'v1beta1');
const definitions = gvrOf('customresourcedefinitions', 'apiextensions.k8s.io');
const namespace = 'default';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  // The server has the kind only by a definition, because upstream serves it behind a gate that is off.
  const names = { plural: 'podcertificaterequests', singular: 'podcertificaterequest', kind: 'PodCertificateRequest' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await cluster.create(
    { gvr: definitions },
    {
      metadata: {
        name: 'podcertificaterequests.certificates.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
      },
      spec: {
        group: 'certificates.k8s.io',
        scope: 'Namespaced',
        names: { ...names, listKind: 'PodCertificateRequestList' },
        versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
      },
    },
  );
  await cluster.until(async () => {
    try {
      await cluster.names({ gvr: requests });
      return true;
    } catch {
      return false;
    }
  });
});
afterEach(() => cluster.stop());

const body = {
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'PodCertificateRequest',
  metadata: { name: 'r' },
  spec: {},
};

it('LIFE-106 deletes a PodCertificateRequest 15 minutes after its creation, and no other of its name', async () => {
  await cluster.create({ gvr: requests, namespace }, body);
  await cluster.runShared((context) => new PodCertificateCleanerController(context));
  let replaced = 0;
  cluster.fault = async (request, next) => {
    if (request.method === 'DELETE' && replaced === 0) {
      replaced++;
      await cluster.client.delete({ gvr: requests, namespace, name: 'r' });
      await cluster.client.create({ gvr: requests, namespace }, body);
    }
    return next(request);
  };
  await cluster.clock.advanceAsync(890_000);
  expect(replaced).toBe(0);
  await cluster.clock.advanceAsync(20_000);
  expect(replaced).toBe(1);
  expect(await cluster.names({ gvr: requests })).toEqual(['r']);
  await cluster.clock.advanceAsync(900_000);
  expect(await cluster.names({ gvr: requests })).toEqual([]);
});
