import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCluster } from '../../testing/testing.ts';
import { run } from '../program.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubegc-delete-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the deletion of a saved plan', () => {
  it('CAS-051 is planned again with the grace period of the command', async () => {
    await using cluster = await startCluster({ clock: 'real', listen: true });
    const kubeconfig = join(folder, 'kubeconfig');
    const saved = join(folder, 'plan.json');
    await cluster.writeKubeconfig(kubeconfig);
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'default' },
      spec: { nodeName: 'node', containers: [{ name: 'web', image: 'web' }] },
    });
    const cascade = async (...args: string[]): Promise<string> => {
      let text = '';
      const write = (more: string): void => void (text += more);
      await run(['cascade', ...args, '--kubeconfig', kubeconfig], { stdout: write, stderr: write, columns: 200 });
      return text;
    };
    expect(await cascade('preview', 'pod/web', '--grace-period=5', '--save', saved)).toContain('may take 5s');
    const planned = (...flags: string[]): Promise<string> =>
      cascade('delete', '--plan', saved, '--dry-run=client', ...flags);
    expect(await planned('--grace-period=5')).toContain('may take 5s');
    expect(await planned('--now')).toContain('may take 1s');
    expect(await planned()).toContain('may take 30s');
  });
});
