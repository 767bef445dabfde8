import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { faults } from '../cascade/document-schemas.ts';
import { ContainerdProcess, containerdReleases } from './containerd-process.ts';
import { fillerLayer } from './oci-archive.ts';
import { until } from '../program/until.ts';

const MIB = 1 << 20;

async function kubegc(node: ContainerdProcess, ...args: readonly string[]) {
  let [out, err] = ['', ''];
  const terminal = {
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    columns: 120,
  };
  const own = ['--container-runtime-endpoint', node.endpoint, '--state-file', join(node.directory, 'state.json')];
  const code = await run(['node', ...args, ...own], terminal);
  return { code, out, err };
}

describe.each(containerdReleases)('what containerd $version keeps besides images in use', (release) => {
  let node: ContainerdProcess;
  beforeAll(async () => {
    node = await ContainerdProcess.start(release, 96);
  });
  afterAll(async () => {
    await node?.close();
  });
  const importOne = async (name: string): Promise<void> =>
    await node.import([{ name, layers: [node.busybox, fillerLayer(MIB)] }]);

  it('NODE-220 finds a snapshot and a blob that nothing explains, names the label that keeps them, and removes neither', async () => {
    const mounts = await node.runPod('explained');
    await importOne('localhost/explained:0');
    await importOne('localhost/data:0');
    const volumes = release.version.startsWith('2.') ? ['localhost/data:0'] : [];
    await node.runContainer(mounts, 'localhost/explained:0', { volumes });
    const clean = JSON.parse((await kubegc(node, 'plan', '-o', 'json')).out) as { findings: object[] };
    expect(clean.findings).toEqual([]);

    const blob = join(node.directory, 'blob');
    const bytes = Buffer.alloc(MIB, 'dead');
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    await writeFile(blob, bytes);
    await node.ctrWithInput(
      blob,
      'content',
      'ingest',
      '--expected-digest',
      digest,
      '--expected-size',
      `${MIB}`,
      'dead',
    );
    await node.ctr('content', 'label', digest, 'containerd.io/gc.root=2026-01-01T00:00:00Z');
    await node.ctr('snapshots', 'prepare', 'left-behind');
    await node.ctr('snapshots', 'label', 'left-behind', 'containerd.io/gc.root=2026-01-01T00:00:00Z');
    const plan = JSON.parse((await kubegc(node, 'plan', '-o', 'json')).out) as { findings: object[] };
    expect(plan.findings).toEqual([
      { kind: 'DeadSnapshot', name: 'left-behind', bytes: expect.any(Number), keptBy: 'containerd.io/gc.root' },
      { kind: 'DeadBlob', name: digest, bytes: MIB, keptBy: 'containerd.io/gc.root' },
    ]);
    const status = await kubegc(node, 'status', '--check');
    expect([status.code, status.out.includes('Finding DeadSnapshot, DeadBlob')]).toEqual([2, true]);
    await kubegc(node, 'prune', '--confirm', '--minimum-image-ttl-duration', '1ms');
    const after = JSON.parse((await kubegc(node, 'plan', '-o', 'json')).out) as { findings: object[] };
    expect(after.findings).toEqual(plan.findings);
    // The commands that the finding names.
    await node.ctr('snapshots', 'rm', 'left-behind');
    await node.ctr('content', 'rm', digest);
    const last = JSON.parse((await kubegc(node, 'plan', '-o', 'json')).out) as { findings: object[] };
    expect(last.findings).toEqual([]);
  });

  it('NODE-226 removes tags by which no container was started, and keeps the image and the tag that is in use', async () => {
    await importOne('localhost/tags:0');
    for (const tag of ['localhost/tags:old', 'localhost/moved:1'])
      await node.ctr('images', 'tag', 'localhost/tags:0', tag);
    const names = async (): Promise<string[]> => (await node.imageNames()).filter((name) => /tags|moved/.test(name));
    await until('all names are listed', async () => (await names()).length >= 3);
    const pod = await node.runPod('tags');
    const id = await node.runContainer(pod, 'localhost/tags:0');
    const [listed] = (await node.runtime.listContainers({ filter: { id } } as object)).containers.filter(
      (each) => each.id === id,
    );
    // 1.6 does not know the field: nobody can know by which tag a container was started there.
    const told = listed!.image?.userSpecifiedImage !== '';
    expect(told).toBe(release.version !== '1.6');
    const young = await kubegc(node, 'prune', '--untag-only', '--confirm', '--minimum-image-ttl-duration', '1h');
    expect(young).toMatchObject({ code: 0, out: 'There are no stale tags.\n' });
    const flags = ['prune', '--untag-only', '--minimum-image-ttl-duration', '1ms'];
    const looked = await kubegc(node, ...flags);
    expect(looked.code).toBe(told ? 3 : 0);
    expect((await names()).length).toBe(3);
    const done = await kubegc(node, ...flags, '--confirm');
    expect(done.code).toBe(0);
    expect(await names()).toEqual(
      told ? ['localhost/tags:0'] : ['localhost/moved:1', 'localhost/tags:0', 'localhost/tags:old'],
    );
    if (told) {
      expect(done.out).toBe(
        'removed the tag localhost/moved:1\nremoved the tag localhost/tags:old\nRemoved 2 tags; every image stays.\n',
      );
    }
    expect((await node.runtime.containerStatus({ containerId: id })).status?.state).toBe(1);
  });

  it('NODE-225 prints documents that their schemas describe', async () => {
    await importOne('localhost/schema:0');
    await importOne('localhost/schema-unused:0');
    await node.runContainer(await node.runPod('schema'), 'localhost/schema:0');
    const young = ['--minimum-image-ttl-duration', '1ms', '-o', 'json'];
    const commands = [
      ['status'],
      ['plan', '--containers'],
      ['why', 'localhost/schema*'],
      ['prune', '--dry-run'],
      ['prune', '--untag-only', '--dry-run'],
      ['prune', '--confirm', '--containers'],
    ];
    const kinds: string[] = [];
    for (const command of commands) {
      const document = JSON.parse((await kubegc(node, ...command, ...young)).out) as { kind: string };
      kinds.push(document.kind);
      expect([command, faults(document)]).toEqual([command, []]);
    }
    expect(kinds).toEqual([
      'NodeStatus',
      'NodePlan',
      'ImageExplanationList',
      'NodePlan',
      'StaleTagList',
      'NodePruneResult',
    ]);
  });
});
