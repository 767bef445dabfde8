import { ApiClient } from '../program/api-client.ts';
import { type Acknowledged, configMaps, GROUPS } from './load-ledger.ts';

/**
 * A process that writes as fast as the server answers: many connections, each with one request on the way, and nobody waits for a
 * watcher. Ends after `seconds`, and not before `leastLarge` objects of 1 MiB were written, one every two seconds. Sends its parent
 * what was acknowledged and what was answered otherwise.
 */
export interface WritersReport {
  readonly acknowledged: readonly Acknowledged[];
  readonly wrong: readonly string[];
  readonly elapsedMs: number;
}

const [kubeconfig = '', seconds = '', connections = '', leastLarge = ''] = process.argv.slice(2);
/** The most that the data of a ConfigMap may have, less what the patch adds. */
const LARGE = 1024 * 1024 - 16;
const LARGE_EVERY_MS = 2_000;
const SMALL = 700;
/** The size of an object beside its data, about. */
const METADATA_BYTES = 600;

const acknowledged: Acknowledged[] = [];
const wrong: string[] = [];
const started = Date.now();
let large = 0;
const over = (): boolean => Date.now() - started > Number(seconds) * 1000 && large >= Number(leastLarge);

/** An object from its creation to its deletion. */
async function writeOne(client: ApiClient, name: string, { group, size }: { group: number; size: number }) {
  const filler = 'x'.repeat(size);
  const path = `${configMaps}/${name}`;
  const labels = { load: 'yes', group: String(group) };
  const steps = [
    ['ADDED', 'POST', configMaps, { metadata: { name, labels }, data: { filler } }],
    ['MODIFIED', 'PATCH', path, { data: { more: 'yes' } }],
    ['DELETED', 'DELETE', path, undefined],
  ] as const;
  for (const [type, method, target, body] of steps) {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { status, body: answer } = await client.send(method, target, body, contentType);
    if (status !== (type === 'ADDED' ? 201 : 200)) {
      wrong.push(`${method} ${name}: ${status} ${JSON.stringify(answer).slice(0, 200)}`);
      continue;
    }
    if (type === 'MODIFIED' && size === LARGE) {
      const { data } = (await client.send('GET', path)).body as { data: Record<string, string> };
      if (data['filler'] !== filler || data['more'] !== 'yes') wrong.push(`${name} is not what was written`);
    }
    const { resourceVersion = '0' } = (answer['metadata'] ?? {}) as { resourceVersion?: string };
    const bytes = (type === 'ADDED' ? 1 : 2) * (size + METADATA_BYTES);
    acknowledged.push({ type, name, group, revision: Number(resourceVersion), bytes });
  }
}

async function write(writer: number): Promise<void> {
  const client = new ApiClient(kubeconfig);
  for (let round = 0; !over(); round++) {
    const group = (writer * 31 + round) % GROUPS;
    const due = writer === 0 && Date.now() - started >= large * LARGE_EVERY_MS;
    await writeOne(client, `object-${writer}-${round}`, { group, size: due ? LARGE : SMALL });
    if (due) large++;
  }
  client.close();
}

await Promise.all(Array.from({ length: Number(connections) }, (_, writer) => write(writer)));
const report: WritersReport = { acknowledged, wrong, elapsedMs: Date.now() - started };
process.send?.(report, () => process.disconnect());
