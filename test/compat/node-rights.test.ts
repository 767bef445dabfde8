import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { defaultConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';
import { until } from '../program/until.ts';
import { fillerLayer } from './oci-archive.ts';

const root = resolve(import.meta.dirname, '../..');
const program = join(root, 'dist/kubegc.js');
const manifest = (name: string): Promise<string> => readFile(join(root, 'docs/manifests', name), 'utf8');
const MIB = 1 << 20;

/** The file system under `ProtectSystem=strict` with paths to write: these directories can be written, and nothing else. */
const READ_ONLY = `
mount --make-rprivate /
for directory in "$1" "$2" "$3"; do mount --bind "$directory" "$directory"; done
while read -r _ at _; do
  case "$at" in
    "$1"|"$2"|"$3"|/dev|/dev/*|/proc|/proc/*|/sys|/sys/*) ;;
    *) mount -o remount,bind,ro "$at" ;;
  esac
done < /proc/self/mounts
if touch "$(dirname "$1")/written" /var/written /usr/written 2>/dev/null; then echo 'not read-only' >&2; exit 9; fi
shift 3
exec "$@"`;

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: readonly string[]; readonly securityContext: object }[];
      };
    };
  };
}

describe('the rights of kubegc node', () => {
  let node: ContainerdProcess;
  beforeAll(async () => {
    node = await ContainerdProcess.start(containerdReleases[1]!, 96);
  });
  afterAll(async () => {
    await node?.close();
  });

  /** As root with these capabilities at most, and no way to get more. */
  function limited(capabilities: readonly string[], args: readonly string[]) {
    const set = ['-all', ...capabilities.map((name) => `+${name.replace(/^CAP_/, '').toLowerCase()}`)].join(',');
    return spawn(
      'setpriv',
      ['--bounding-set', set, '--inh-caps', '-all', '--no-new-privs', process.execPath, program, 'node', ...args]
        .concat(['--container-runtime-endpoint', node.endpoint])
        .concat(['--state-file', join(node.directory, 'state.json')]),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
  }

  async function untilReady(child: ReturnType<typeof limited>): Promise<string> {
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => void (said += bytes.toString()));
    while (!said.includes('kubegc node is ready') && child.exitCode === null) await once(child.stdout, 'data');
    return said;
  }

  async function ended(child: ReturnType<typeof limited>): Promise<number | null> {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    return ((await exited) as [number | null])[0];
  }

  it('systemd takes the unit without a word', async () => {
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', [
      'verify',
      join(root, 'docs/manifests/kubegc-node.service'),
    ]);
    expect([stdout, stderr]).toEqual(['', '']);
  });

  it('NODE-140 runs with the capabilities that the unit leaves it, by the command of the unit', async () => {
    const unit = await manifest('kubegc-node.service');
    const capabilities = /^CapabilityBoundingSet=(.*)$/m.exec(unit)![1]!.split(' ');
    const args = /^ExecStart=\S+ kubegc node (.*)$/m
      .exec(unit)![1]!
      .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:0')
      .split(' ');
    const child = limited(capabilities, args);
    expect(await untilReady(child)).toContain('mode standalone');
    expect(await ended(child)).toBe(0);
  });

  it('NODE-231, 140 collects where only the paths of the unit can be written, and leaves the records of a kubelet as they are', async () => {
    const unit = await manifest('kubegc-node.service');
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    const written = /^ReadWritePaths=(.*)$/m
      .exec(unit)![1]!
      .split(' ')
      .map((path) => path.replace(/^-/, ''));
    const state = `/var/lib/${/^StateDirectory=(.*)$/m.exec(unit)![1]}`;
    const { podLogsDir, containerLogsDir, stateFile } = defaultConfiguration;
    expect([...written, state]).toEqual([podLogsDir.replace(/\/$/, ''), containerLogsDir, dirname(stateFile)]);

    const [own, kubelet] = [
      join(node.directory, 'state-of-kubegc'),
      join(node.directory, 'kubelet/image_manager/pulled'),
    ];
    await mkdir(own);
    await mkdir(kubelet, { recursive: true });
    const record = '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1"}';
    await writeFile(join(kubelet, 'sha256-1'), record);
    const configuration = join(own, 'configuration.yaml');
    await writeFile(
      configuration,
      stringify({
        apiVersion: 'node.kubegc/v1alpha1',
        kind: 'NodeGCConfiguration',
        podLogsDir: node.podLogsDir,
        containerLogsDir: node.containerLogsDir,
        stateFile: join(own, 'node-state.json'),
        imageGCHighThresholdPercent: 30,
        imageGCLowThresholdPercent: 20,
        imageMinimumGCAge: '1ms',
        containerGC: { maxPerPodContainer: 0 },
      }),
    );
    await writeFile(join(own, 'pods.json'), '{"kind":"PodList","items":[]}');
    await node.import([{ name: 'localhost/unit:1', layers: [node.busybox, fillerLayer(30 * MIB)] }]);
    const pod = await node.runPod('unit');
    await node.untilExited(await node.runContainer(pod, 'localhost/unit:1', { command: ['/bin/true'] }));
    await node.runtime.stopPodSandbox({ podSandboxId: pod.sandboxId });
    const capabilities = /^CapabilityBoundingSet=(.*)$/m
      .exec(unit)![1]!
      .split(' ')
      .map((name) => `+${name.replace(/^CAP_/, '').toLowerCase()}`);
    const start = () =>
      spawn(
        'unshare',
        ['-m', 'sh', '-ec', READ_ONLY, 'sh', own, node.podLogsDir, node.containerLogsDir, 'setpriv']
          .concat(['--bounding-set', ['-all', ...capabilities].join(','), '--inh-caps', '-all', '--no-new-privs'])
          .concat([process.execPath, program, 'node', 'run', '--mode', 'standalone', '--config', configuration])
          .concat(['--pods', `file=${join(own, 'pods.json')}`, '--container-runtime-endpoint', node.endpoint]),
        { stdio: ['ignore', 'pipe', 'pipe'] },
      );
    const first = start();
    expect(await untilReady(first)).toContain('mode standalone');
    const gone = async (): Promise<boolean> =>
      (await node.containerIds()).length + (await readdir(node.podLogsDir)).length === 0;
    await until('containers and logs are gone', gone);
    expect(await ended(first)).toBe(0);
    expect(await readdir(own)).toContain('node-state.json');
    const second = start();
    await untilReady(second);
    await until('the unused image is removed', async () => (await node.imageNames()).length <= 1);
    expect(await ended(second)).toBe(0);
    expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
    expect(await readFile(join(kubelet, 'sha256-1'), 'utf8')).toBe(record);
  });

  it('NODE-140 runs with the capabilities of the DaemonSet, which are none, and collects once the mode says so', async () => {
    const documents = parseAllDocuments(await manifest('node-daemonset.yaml')).map((each) => each.toJS() as Manifest);
    const { spec } = documents.find(({ kind }) => kind === 'DaemonSet')!;
    const [container] = spec.template.spec.containers;
    expect(container!.securityContext).toMatchObject({ capabilities: { drop: ['ALL'] }, runAsUser: 0 });
    // There is no API server here, and the socket is another one.
    const args = container!.args
      .slice(1)
      .filter((arg) => !/^--(?:pods|protect-configmaps|container-runtime-endpoint)=/.test(arg))
      .map((arg) => arg.replace('--mode=audit', '--mode=besideKubelet'));
    await node.import([{ name: 'localhost/unused:1', layers: [node.busybox, fillerLayer(30 * MIB)] }]);
    const thresholds = [
      '--image-gc-high-threshold=30',
      '--image-gc-low-threshold=20',
      '--minimum-image-ttl-duration=1ms',
    ];
    // The first run remembers the image, the second one finds it old enough.
    const first = limited([], [...args, ...thresholds]);
    expect(await untilReady(first)).toContain('besideKubelet');
    expect(await ended(first)).toBe(0);
    const second = limited([], [...args, ...thresholds]);
    await untilReady(second);
    await until('the unused image is removed', async () => (await node.imageNames()).length <= 1);
    expect(await ended(second)).toBe(0);
    expect(await node.imageNames()).toEqual([PAUSE_IMAGE]);
  });

  it('NODE-019 says that the rights are missing when the socket may not be used, removes nothing, and says what to do', async () => {
    await chmod(join(node.directory, 'c.sock'), 0);
    try {
      const child = limited([], ['prune', '--confirm']);
      let said = '';
      child.stderr.on('data', (bytes: Buffer) => void (said += bytes.toString()));
      const [code] = (await once(child, 'close')) as [number];
      expect([code, said]).toEqual([
        1,
        `error: cannot reach the container runtime at ${node.endpoint}: permission denied\n` +
          'Nothing was removed. Sockets of runtimes are for root: run as root, or with sudo.\n',
      ]);
    } finally {
      await chmod(join(node.directory, 'c.sock'), 0o660);
    }
  });
});
