import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/**
 * Law 3: what was acknowledged is there after kill -9, nothing is half written, and the interrupted cascade goes on.
 *
 * Writers create objects, raise a counter in them and delete them, and note what the server acknowledged; the server is
 * killed at a random moment of that, again and again, on one data directory.
 */
const kills = Number(process.env['KUBEGC_KILLS'] ?? 50);
const writers = 8;
const dependents = 12;
const configmaps = '/api/v1/namespaces/default/configmaps';

interface ConfigMap {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    ownerReferences?: { uid: string }[];
    deletionTimestamp?: string;
    labels?: Record<string, string>;
  };
  data?: Record<string, string>;
}

/** The facts about an object: the last acknowledged count (absent: never acknowledged as created), and counts that may also be true. */
interface Known {
  acknowledged: number | 'absent';
  /** A write was sent and no answer came: its effect may or may not be there. */
  unanswered?: number | 'absent';
}

function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function workUntilKilled(client: ApiClient, known: Map<string, Known>, prefix: string): Promise<void> {
  const mine = [...known.entries()].filter(([name]) => name.startsWith(prefix));
  for (const [name, state] of mine) if (state.acknowledged === 'absent') known.delete(name);
  for (let next = known.size; ; next++) {
    const name = `${prefix}${next}-${Math.floor(performance.now())}`;
    const state: Known = { acknowledged: 'absent', unanswered: 0 };
    known.set(name, state);
    const write = async (count: number | 'absent', send: () => Promise<{ status: number }>): Promise<boolean> => {
      state.unanswered = count;
      try {
        const { status } = await send();
        if (status >= 300) throw new Error(`${name}: unexpected status ${status}`);
      } catch (error) {
        if (error instanceof Error && error.message.includes('unexpected status')) throw error;
        return false;
      }
      state.acknowledged = count;
      delete state.unanswered;
      return true;
    };
    const object = (count: number): unknown => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { counter: 'yes' }, annotations: { count: String(count) } },
      data: { count: String(count), filler: 'x'.repeat(700) },
    });
    if (!(await write(0, () => client.send('POST', configmaps, object(0))))) return;
    for (let count = 1; count <= 3; count++) {
      const patch = { metadata: { annotations: { count: String(count) } }, data: { count: String(count) } };
      if (
        !(await write(count, () =>
          client.send('PATCH', `${configmaps}/${name}`, patch, 'application/merge-patch+json'),
        ))
      )
        return;
    }
    if (next % 3 === 0 && !(await write('absent', () => client.send('DELETE', `${configmaps}/${name}`)))) return;
  }
}

/**
 * An owner with dependents, deleted by one of the policies; in some rounds the kill comes before the delete is answered. `onDelete` is
 * called when the delete is about to be sent.
 */
async function cascade(
  client: ApiClient,
  round: number,
  onDelete: () => void,
): Promise<{ owner: string; policy: string; acknowledged: boolean } | undefined> {
  const policy = (['Background', 'Foreground', 'Orphan'] as const)[round % 3] ?? 'Background';
  const owner = `owner-${round}`;
  try {
    const created = await client.send('POST', configmaps, { metadata: { name: owner } });
    const { uid } = (created.body as unknown as ConfigMap).metadata;
    await Promise.all(
      Array.from({ length: dependents }, (_, index) =>
        client.send('POST', configmaps, {
          metadata: {
            name: `${owner}-dependent-${index}`,
            labels: { owner },
            ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true }],
          },
        }),
      ),
    );
  } catch {
    return undefined;
  }
  onDelete();
  try {
    await client.send('DELETE', `${configmaps}/${owner}`, { propagationPolicy: policy });
    return { owner, policy, acknowledged: true };
  } catch {
    return { owner, policy, acknowledged: false };
  }
}

describe('kill -9', () => {
  it(`loses nothing acknowledged in ${kills} kills, and cascades go on until they have finished (law 3, COL-211, COL-213, COL-215)`, async () => {
    await using directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const args = [
      'up',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      join(directory.path, 'data'),
      '--write-kubeconfig',
      kubeconfig,
      '--log-level',
      'error',
    ];
    const random = seededRandom(Number(process.env['KUBEGC_SEED'] ?? 20_261_121));
    const known = new Map<string, Known>();
    const cascades: { owner: string; policy: string; acknowledged: boolean }[] = [];
    let highestRevision = 0;

    for (let round = 0; round <= kills; round++) {
      const server = new KubegcProcess(args);
      await server.ready();
      const client = new ApiClient(kubeconfig);

      const listed = await client.send('GET', configmaps);
      const items = listed.body['items'] as ConfigMap[];
      const revision = Number((listed.body['metadata'] as { resourceVersion: string }).resourceVersion);
      expect(revision).toBeGreaterThanOrEqual(highestRevision);
      const stored = new Map(items.map((item) => [item.metadata.name, item]));
      for (const [name, state] of known) {
        const item = stored.get(name);
        const count = item ? Number(item.data?.['count']) : 'absent';
        const possible = 'unanswered' in state ? [state.acknowledged, state.unanswered] : [state.acknowledged];
        expect(possible, `${name} after kill ${round}`).toContain(count);
        state.acknowledged = count;
        delete state.unanswered;
      }
      for (const item of items.filter(({ metadata }) => metadata.labels?.['counter'] === 'yes')) {
        const { annotations } = item.metadata as unknown as { annotations: Record<string, string> };
        expect(annotations['count'], `${item.metadata.name} is whole`).toBe(item.data?.['count']);
        expect(item.data?.['filler']).toHaveLength(700);
        highestRevision = Math.max(highestRevision, Number(item.metadata.resourceVersion));
      }

      if (round === kills) {
        await settled(client, cascades);
        client.close();
        const { code } = await server.stop();
        expect(code).toBe(0);
        break;
      }
      const work = Array.from({ length: writers }, (_, index) => workUntilKilled(client, known, `w${index}-`));
      let deletes = (): void => {};
      const deleted = new Promise<void>((told) => (deletes = told));
      const deletion = cascade(client, round, deletes);
      // In every other round at any moment of the making of objects, which on a slow machine comes to no deletion.
      if (round % 2 === 1) await Promise.race([deleted, deletion]);
      await new Promise((next) => setTimeout(next, 20 + random() * 300));
      server.kill('SIGKILL');
      await server.ended;
      await Promise.all(work);
      const done = await deletion;
      if (done) cascades.push(done);
      client.close();
    }
    expect(known.size).toBeGreaterThan(kills);
    expect(cascades.length).toBeGreaterThan(0);
    console.log(`${kills} kills, ${known.size} objects tracked, ${cascades.length} interrupted or finished cascades`);
  }, 600_000);
});

/** Every acknowledged deletion comes to what its policy promises: collected, or orphaned and free of the reference. */
async function settled(
  client: ApiClient,
  cascades: readonly { owner: string; policy: string; acknowledged: boolean }[],
): Promise<void> {
  const wrong = async (): Promise<string[]> => {
    const { body } = await client.send('GET', configmaps);
    const items = body['items'] as ConfigMap[];
    const names = new Set(items.map((item) => item.metadata.name));
    return cascades.flatMap(({ owner, policy, acknowledged }) => {
      const left = items.filter((item) => item.metadata.labels?.['owner'] === owner);
      // An unanswered delete may not have happened: then the owner lives, and so do its dependents.
      if (!acknowledged && names.has(owner) && left.length === dependents) return [];
      if (names.has(owner)) return [`${owner} (${policy}) is still there`];
      if (policy === 'Orphan') {
        const held = left.filter((item) => (item.metadata.ownerReferences ?? []).length > 0);
        return left.length === dependents && held.length === 0
          ? []
          : [`${owner}: ${left.length} orphans, ${held.length} with references`];
      }
      return left.length === 0 ? [] : [`${owner} (${policy}): ${left.length} dependents left`];
    });
  };
  let found: readonly string[] = ['never read'];
  const settles = until('every deletion comes to its outcome', async () => (found = await wrong()).length === 0);
  await settles.catch((error: unknown) => {
    // Shows which outcomes are missing.
    expect(found).toEqual([]);
    throw error;
  });
}
