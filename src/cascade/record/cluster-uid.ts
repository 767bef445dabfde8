import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';

/** The uid of the namespace `kube-system`, which stands for the cluster; undefined when it cannot be read. */
export async function clusterUid(client: RestClient): Promise<string | undefined> {
  try {
    const ref = { gvr: { group: '', version: 'v1', resource: 'namespaces' }, name: 'kube-system' };
    return (await client.get(ref)).metadata?.uid;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Whether a record is known to be of another cluster than the client's. An undo would then mix the objects of two clusters. */
export async function isOfAnotherCluster({ context }: CascadeRecord, client: RestClient): Promise<boolean> {
  const uid = await clusterUid(client);
  return uid !== undefined && context.clusterUid !== undefined && uid !== context.clusterUid;
}
