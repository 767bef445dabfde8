import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedContainerd } from '../../nodegc/containerd/containerd.fixture.ts';
import { runtimeOf } from '../../nodegc/cri/runtime.fixture.ts';
import { run } from '../program.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Runs `kubegc node` against this containerd. */
async function kubegcWith(containerd: SimulatedContainerd) {
  const directory = await mkdtemp(join(tmpdir(), 'kgn-'));
  const { endpoint, close } = await runtimeOf(containerd.routes);
  closers.push(() => rm(directory, { recursive: true }), close);
  return async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
    let [out, err] = ['', ''];
    const terminal = {
      stdout: (text: string) => void (out += text),
      stderr: (text: string) => void (err += text),
      columns: 100,
    };
    const more = ['--container-runtime-endpoint', endpoint, '--state-file', join(directory, 'state.json')];
    return { code: await run(['node', ...args, ...more], terminal), out, err };
  };
}

describe('kubegc node prune --untag-only', () => {
  const stale = (): SimulatedContainerd => {
    const containerd = new SimulatedContainerd();
    for (const tag of ['2', '3', '4'])
      containerd.images.push({ name: `team/app:${tag}`, target: { digest: 'manifest' } });
    return containerd;
  };
  const broken = (): SimulatedContainerd => {
    const containerd = stale();
    containerd.before = (call) => {
      if (call === 'delete team/app:3') throw new ConnectError('the disk is read-only', Code.Internal);
    };
    return containerd;
  };

  it('NODE-226 reports the tags that it removed before a removal failed', async () => {
    const kubegc = await kubegcWith(broken());
    const said = await kubegc('prune', '--untag-only', '--confirm');
    expect(said).toMatchObject({
      code: 1,
      out: 'removed the tag team/app:2\nRemoved 1 tag; every image stays.\n',
      err: expect.stringContaining('the disk is read-only'),
    });
  });

  it('NODE-226 prints a whole document when a removal failed', async () => {
    const kubegc = await kubegcWith(broken());
    const { code, out, err } = await kubegc('prune', '--untag-only', '--confirm', '-o', 'json');
    const { items } = JSON.parse(out) as { items: { tag: string; removed: boolean }[] };
    expect(items.map(({ tag, removed }) => [tag, removed])).toEqual([
      ['team/app:2', true],
      ['team/app:3', false],
      ['team/app:4', false],
    ]);
    expect([code, err]).toEqual([1, expect.stringContaining('the disk is read-only')]);
  });

  it('NODE-226 leaves a tag that may no longer be removed, and says so', async () => {
    const containerd = stale();
    containerd.before = (call) => {
      // Another program removes this tag meanwhile.
      if (call === 'delete team/app:2') containerd.images.splice(3, 1);
    };
    const kubegc = await kubegcWith(containerd);
    expect(await kubegc('prune', '--untag-only', '--confirm')).toEqual({
      code: 1,
      out: 'removed the tag team/app:2\nremoved the tag team/app:4\nRemoved 2 tags; every image stays.\n',
      err: 'left team/app:3: it may no longer be removed\n',
    });
  });
});

describe('kubegc node repair --stranded', () => {
  /** A record whose only name is a digest, and whose image is not listed. */
  const strand = ({ blobs, images }: SimulatedContainerd): void => {
    blobs.push({ digest: 'new', size: 7n, labels: {} });
    images.push({ name: 'sha256:new', target: { digest: 'new' } });
  };

  it('NODE-229 removes a record that no image shows', async () => {
    const containerd = new SimulatedContainerd();
    strand(containerd);
    const kubegc = await kubegcWith(containerd);
    expect((await kubegc('repair', '--stranded')).code).toBe(3);
    expect(await kubegc('repair', '--stranded', '--confirm')).toEqual({
      code: 0,
      out: 'removed the record sha256:new\nRemoved 1 stranded image record.\n',
      err: '',
    });
  });

  it('NODE-229 does not report an image that is pulled between the list of the runtime and that of containerd', async () => {
    const containerd = new SimulatedContainerd();
    let listed = false;
    containerd.before = (call) => {
      if (call === 'listed images') listed = true;
      if (call !== 'images' || !listed || containerd.listed.includes('new')) return;
      strand(containerd);
      containerd.listed.push('new');
    };
    const kubegc = await kubegcWith(containerd);
    const { findings } = JSON.parse((await kubegc('plan', '-o', 'json')).out) as { findings: unknown[] };
    expect([containerd.images.length, findings]).toEqual([3, []]);
  });

  it('NODE-229 checks again right before the removal, and leaves a record that an image shows by now', async () => {
    const containerd = new SimulatedContainerd();
    strand(containerd);
    const kubegc = await kubegcWith(containerd);
    // The first two reads are for the ages of images and for the plan.
    let reads = 0;
    containerd.before = (call) => {
      if (call === 'images' && ++reads === 3) containerd.listed.push('new');
    };
    expect(await kubegc('repair', '--stranded', '--confirm')).toEqual({
      code: 0,
      out: 'Removed 0 stranded image records.\n',
      err: 'left sha256:new: it is no longer stranded\n',
    });
    expect(containerd.images.map(({ name }) => name)).toContain('sha256:new');
  });
});

describe('kubegc node, of containerd', () => {
  it.each([
    [true, ['plan']],
    [true, ['status', '-o', 'json']],
    [true, ['prune', '--dry-run', '-o', 'json']],
    [false, ['prune', '--dry-run']],
    [false, ['why', 'team/app:1']],
    [false, ['repair', '--stranded']],
  ])('NODE-220 reads the holders of all pieces only to show dead ones: %s for %j', async (reads, args) => {
    const containerd = new SimulatedContainerd();
    const kubegc = await kubegcWith(containerd);
    expect(await kubegc(...args)).toMatchObject({ code: 0, err: '' });
    expect([containerd.calls.includes('leases'), containerd.calls.includes('containers')]).toEqual([reads, reads]);
  });
});
