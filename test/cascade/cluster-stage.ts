import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { sleep, systemClock } from '../../src/base/time/clock.ts';
import { loadClientConfig } from '../../src/client/kubeconfig/client-config.ts';
import { connect } from '../../src/client/http/connect.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import type { Stage } from './stage.ts';

const POLL_MS = 500;
/** Looks in a row that show nothing new before a cluster counts as being at rest. */
const QUIET_LOOKS = 6;
const MAX_LOOKS = 600;
/** kube-controller-manager reads discovery every thirty seconds. */
const NOTICED_MS = 65_000;

/** A real cluster: kube-apiserver with kube-controller-manager, with or without nodes. */
export async function clusterStage(kubeconfig: string, hasNodes: boolean): Promise<Stage> {
  const config = await loadClientConfig({
    io: {
      env: {},
      homeDirectory: homedir(),
      pathListSeparator: delimiter,
      readFile: (path) => readFile(path, 'utf8'),
      runProgram: () => Promise.reject(new Error('credential programs are not run here')),
    },
    clock: systemClock,
    path: kubeconfig,
  });
  const client = new RestClient({
    transport: connect({ ...config, clock: systemClock }),
    clock: systemClock,
    userAgent: 'preview-truth',
    defaultTimeoutMs: 60_000,
  });
  return {
    client,
    hasNodes,
    removals: () => undefined,
    kindsNoticed: () => sleep(systemClock, NOTICED_MS),
    async rest() {
      let before = '';
      let quiet = 0;
      for (let look = 0; look < MAX_LOOKS && quiet < QUIET_LOOKS; look++) {
        const { graph } = await readSnapshot({ client, clock: systemClock });
        const versions: string[] = [];
        graph.forEachNode((id) => {
          const { identity, resourceVersion } = graph.at(id);
          // Leases are renewed for ever.
          if (identity.kind !== 'Lease' && identity.kind !== 'Node')
            versions.push(`${identity.uid} ${resourceVersion}`);
        });
        const now = versions.toSorted().join('\n');
        quiet = now === before ? quiet + 1 : 0;
        before = now;
        await sleep(systemClock, POLL_MS);
      }
    },
    close: () => client.close(),
  };
}
