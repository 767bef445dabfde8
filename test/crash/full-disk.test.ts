import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const MIB = 1024 * 1024;

/** Whether this process may mount a small file system, as root may. */
function mount(path: string, mebibytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it('law 3: writes go on without a restart when a full disk has room again, and /readyz fails until then', async ({
  skip,
}) => {
  await using directory = await temporaryDirectory();
  const disk = join(directory.path, 'disk');
  await mkdir(disk);
  if (!mount(disk, 16)) {
    const reason = 'mounting a file system is not allowed here: the full disk is not tested';
    // CI runs as root. It must not pass without this test.
    if (process.env['CI'] !== undefined) throw new Error(reason);
    return skip(reason);
  }
  try {
    const kubeconfig = join(directory.path, 'kubeconfig');
    const args = ['up', '--listen', '127.0.0.1:0', '--data-dir', join(disk, 'data'), '--write-kubeconfig', kubeconfig];
    const server = new KubegcProcess(args);
    await server.ready();
    const client = new ApiClient(kubeconfig);
    const create = (name: string) =>
      client.send('POST', configMaps, { metadata: { name }, data: { filler: 'x'.repeat(100_000) } });
    const acknowledged: string[] = [];
    // A file of somebody else takes most of the disk.
    const ballast = join(disk, 'ballast');
    await writeFile(ballast, Buffer.alloc(8 * MIB));
    let refused = await create('first');
    for (let index = 0; refused.status === 201; index++) {
      acknowledged.push(index === 0 ? 'first' : `filler-${index - 1}`);
      refused = await create(`filler-${index}`);
    }
    expect(refused.status).toBe(503);
    expect(refused.body['message']).toMatch(/^the store has no room left: ENOSPC/);
    expect((await client.send('GET', `${configMaps}/first`)).status).toBe(200);
    const notReady = await client.send('GET', '/readyz');
    expect([notReady.status, notReady.body['text']]).toEqual([
      500,
      expect.stringContaining('[-]file failed: the store has no room left: ENOSPC'),
    ]);
    expect((await client.send('GET', '/livez')).status).toBe(200);
    await rm(ballast);
    await until('the server is ready again', async () => (await client.send('GET', '/readyz')).status === 200);
    expect((await create('after')).status).toBe(201);
    acknowledged.push('after');
    client.close();
    const { stderr } = await server.stop();
    expect(stderr).toContain('the disk is full: writes are refused until it has room, reads go on');
    expect(stderr).toContain('the disk has room again: writes go on');

    const again = new KubegcProcess(args);
    await again.ready();
    const reader = new ApiClient(kubeconfig);
    const listed = (await reader.send('GET', configMaps)).body['items'] as { metadata: { name: string } }[];
    const names = listed.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(acknowledged));
    expect(names.filter((name) => name.startsWith('filler-') && !acknowledged.includes(name))).toEqual([]);
    reader.close();
    await again.stop();
  } finally {
    execFileSync('umount', [disk]);
  }
});
