import type { KubeObject, TestCluster } from 'kubegc/testing';

export const FINALIZER = 'example.com/release-bucket';

/**
 * A small operator, as one would write it against any cluster: each ConfigMap with the label `bucket` stands for a bucket
 * somewhere else. It puts its finalizer on, and takes it off when the bucket is released.
 */
export async function startOperator(cluster: TestCluster, release: (bucket: string) => Promise<void>): Promise<void> {
  const client = cluster.clientAs('bucket-operator');
  const reconcile = async (object: KubeObject): Promise<void> => {
    const { labels = {}, finalizers = [], deletionTimestamp } = object.metadata ?? {};
    const bucket = labels['bucket'];
    if (bucket === undefined) return;
    if (!deletionTimestamp) {
      if (!finalizers.includes(FINALIZER)) await client.addFinalizer(object, FINALIZER);
    } else if (finalizers.includes(FINALIZER)) {
      await release(bucket);
      await client.removeFinalizer(object, FINALIZER);
    }
  };
  const buckets = await cluster.informer({ apiVersion: 'v1', kind: 'ConfigMap' }, 'bucket-operator');
  buckets.addHandler({
    added: (object) => void reconcile(object),
    updated: (_, object) => void reconcile(object),
  });
}
