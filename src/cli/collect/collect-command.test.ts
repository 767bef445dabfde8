import { describe, expect, it, vi } from 'vitest';
import { run } from '../program.ts';

const NOTHING_RUNS =
  'nothing runs: neither the collector nor another controller is selected (--enable-garbage-collector, --controllers)\n';

/** Runs the command line as a user types it; no server is needed for the answer. */
async function typed(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const said = { stdout: '', stderr: '' };
  const terminal = {
    stdout: (text: string) => void (said.stdout += text),
    stderr: (text: string) => void (said.stderr += text),
    columns: 100,
  };
  const code = await run(['collect', '--kubeconfig', '/does/not/exist', ...args], terminal);
  return { code, ...said };
}

describe('the flags of kube-controller-manager', () => {
  it('COL-200 with --enable-garbage-collector=false nothing is started, and the kubeconfig is not read', async () => {
    expect(await typed('--enable-garbage-collector=false')).toEqual({
      code: 0,
      stdout: NOTHING_RUNS,
      stderr: '',
    });
  });

  it.each([[['--controllers=']], [['--controllers=-garbage-collector-controller']]])(
    'COL-200 with %j nothing is selected, and nothing is started',
    async (flags) => {
      expect(await typed(...flags)).toEqual({ code: 0, stdout: NOTHING_RUNS, stderr: '' });
    },
  );

  it('COL-200 an error of another flag is reported all the same', async () => {
    const { code, stderr } = await typed('--enable-garbage-collector=false', '--sync-period', '30');
    expect(stderr).toContain('invalid --sync-period "30"');
    expect(code).toBe(1);
  });

  it.each([
    ['--enable-garbage-collector=no', 'invalid --enable-garbage-collector "no"\nGive true or false.'],
    [
      '--kube-api-content-type=application/yaml',
      "argument 'application/yaml' is invalid. Allowed choices are application/vnd.kubernetes.protobuf, application/json.",
    ],
    ['--leader-elect-resource-lock=endpoints', "argument 'endpoints' is invalid. Allowed choices are leases."],
    ['--kubeconfig=', 'invalid --kubeconfig "": it is empty\nGive --kubeconfig FILE, or leave it away'],
    ['--leader-elect-resource-lock=endpointsleases', 'Allowed choices are leases.'],
  ])('COL-200 %s is refused', async (flag, message) => {
    const { code, stdout, stderr } = await typed(flag);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it.each(['--max-deletes-per-minute', '--max-deletes-per-minute-overall'])(
    'CAS-074 %s does nothing with --mode observe, and the log says so',
    async (flag) => {
      let stderr = '';
      const terminal = { stdout: () => {}, stderr: (text: string) => void (stderr += text), columns: 100 };
      for (const flags of [[], [flag, '5', '--mode', 'auto'], [flag, '5']]) {
        await run(['collect', '--kubeconfig', '/does/not/exist', ...flags], terminal);
      }
      const line = /INFO .*no limit of deletions applies, because --mode observe deletes nothing/g;
      await vi.waitFor(() => expect(stderr.match(line)).toHaveLength(1));
    },
  );

  it.each([
    '--enable-garbage-collector',
    '--enable-garbage-collector=true',
    '--kube-api-content-type=application/json',
  ])('COL-200 %s starts', async (flag) => {
    const { stderr } = await typed(flag);
    expect(stderr).toContain('cannot find out which cluster to use');
  });
});
