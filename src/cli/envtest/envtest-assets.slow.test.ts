import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandError } from '../process/command-error.ts';
import { writeEnvtestAssets } from './envtest-assets.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "kubegc's assets "));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('API-565 the executables for envtest', () => {
  it('run this program with the arguments they were given, whatever its path', async () => {
    const script = join(directory, "it's $HOME.js");
    writeFileSync(script, 'console.log(JSON.stringify(process.argv.slice(2)))');
    const assets = await writeEnvtestAssets(join(directory, 'a', 'b'), { node: process.execPath, script });
    for (const name of ['etcd', 'kube-apiserver']) {
      expect(statSync(join(assets, name)).mode & 0o777).toBe(0o755);
      const said = execFileSync(join(assets, name), ['--data-dir=a b', '--help'], { encoding: 'utf8' });
      expect(JSON.parse(said)).toEqual([`envtest-${name}`, '--data-dir=a b', '--help']);
    }
  });

  it('kubectl is the next one on the PATH, and never itself', async () => {
    const assets = await writeEnvtestAssets(directory, { node: process.execPath, script: 'x.js' });
    const other = mkdtempSync(join(tmpdir(), 'kubegc-kubectl-'));
    try {
      writeFileSync(join(other, 'kubectl'), '#!/bin/sh\necho "the other one: $*"\n', { mode: 0o755 });
      const run = (path: string): string =>
        execFileSync(join(assets, 'kubectl'), ['get', 'pods'], {
          encoding: 'utf8',
          env: { PATH: path },
          stdio: 'pipe',
        });
      expect(run(`${assets}:${other}`)).toBe('the other one: get pods\n');
      expect(() => run(`${assets}::${assets}/.`)).toThrow('kubectl is not installed');
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it('a directory that cannot be made is a sentence, not a stack', async () => {
    writeFileSync(join(directory, 'file'), '');
    const written = writeEnvtestAssets(join(directory, 'file', 'below'), { node: 'node', script: 'x.js' });
    await expect(written).rejects.toThrow(CommandError);
  });
});
