import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import type { Store } from '../../apiserver/storage/interface.ts';
import { openMemoryStore } from '../../apiserver/storage/embedded/memory-store.ts';
import { sharedIdentity } from './shared-identity.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60_000;

function setUp() {
  const clock = new FakeClock(NOW);
  const store = openMemoryStore({ clock });
  const start = (hosts: readonly string[] = ['127.0.0.1']) =>
    sharedIdentity(store, { clock, random: systemRandom, hosts });
  return { clock, store, start };
}

const contents = async (store: Store): Promise<string[]> => {
  const { kv } = await store.get('/registry/kubegc/identity');
  const { files } = JSON.parse(Buffer.from(kv?.value ?? []).toString()) as { files: object };
  return Object.keys(files).toSorted();
};

describe('the identity of several servers', () => {
  it('is that of the first, also when many start at the same moment', async () => {
    const { start, store } = setUp();
    const identities = await Promise.all(Array.from({ length: 5 }, (_, i) => start([`10.0.0.${i}`])));
    const [first] = identities;
    for (const { serving, ...shared } of identities) {
      const { serving: _, ...expected } = first ?? {};
      expect(shared).toEqual(expected);
      expect(new X509Certificate(serving.certPem).checkIssued(new X509Certificate(shared.authority.certPem))).toBe(
        true,
      );
    }
    // Each server has a certificate for its own address, and keeps it to itself.
    expect(new Set(identities.map(({ serving }) => serving.keyPem)).size).toBe(5);
    expect(identities.map(({ serving }, i) => new X509Certificate(serving.certPem).checkIP(`10.0.0.${i}`))).toEqual(
      Array.from({ length: 5 }, (_, i) => `10.0.0.${i}`),
    );
    expect(await contents(store)).toEqual(['admin.crt', 'admin.key', 'admin.token', 'ca.crt', 'ca.key', 'sa.key']);
    const revision = await store.currentRevision();
    expect((await start()).adminToken).toBe(first?.adminToken);
    expect(await store.currentRevision()).toBe(revision);
  });

  it('is renewed in part by whoever starts when something expires soon', async () => {
    const { start, clock } = setUp();
    const before = await start();
    clock.advance(345 * DAY_MS);
    const [one, two] = await Promise.all([start(), start()]);
    expect(one?.admin.certPem).not.toBe(before.admin.certPem);
    expect(two?.admin).toEqual(one?.admin);
    expect([one?.authority, one?.adminToken, one?.serviceAccountKeyPem]).toEqual([
      before.authority,
      before.adminToken,
      before.serviceAccountKeyPem,
    ]);
  });
});
