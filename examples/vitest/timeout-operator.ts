import type { KubeObject, TestCluster } from 'kubegc/testing';

export const FINALIZER = 'example.com/release-bucket';
/** Milliseconds that one attempt may take. */
export const GIVE_UP_MS = 30_000;
/** Milliseconds before the next attempt. */
const RETRY_MS = 5000;

/** The part of a clock that the operator needs. In production it is made of Node's own timers. */
type Clock = Pick<TestCluster['clock'], 'setTimeout' | 'clearTimeout' | 'sleep'>;

/** Releases the bucket of each ConfigMap that is deleted; gives an attempt up after its time-out, and tries again. */
export async function startOperator(
  cluster: TestCluster,
  release: (bucket: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { clock } = cluster;
  const client = cluster.clientAs('bucket-operator');
  const cleanUp = async (object: KubeObject): Promise<void> => {
    const bucket = object.metadata?.labels?.['bucket'] ?? '';
    while (!(await succeeds((signal) => release(bucket, signal), clock))) await clock.sleep(RETRY_MS);
    await client.removeFinalizer(object, FINALIZER);
  };
  const begin = (object: KubeObject): void => {
    const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
    if (deletionTimestamp && finalizers.includes(FINALIZER)) void cleanUp(object);
  };
  const buckets = await cluster.informer({ apiVersion: 'v1', kind: 'ConfigMap' }, 'bucket-operator');
  buckets.addHandler({ added: begin, updated: (_, object) => begin(object) });
}

/** False when the work failed, or took too long. */
async function succeeds(work: (signal: AbortSignal) => Promise<void>, clock: Clock): Promise<boolean> {
  const timedOut = new AbortController();
  const timer = clock.setTimeout(() => timedOut.abort(), GIVE_UP_MS);
  try {
    await work(timedOut.signal);
    return true;
  } catch {
    return false;
  } finally {
    clock.clearTimeout(timer);
  }
}
