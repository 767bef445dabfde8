import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Client, createClient } from '@connectrpc/connect';
import { ImageService, RuntimeService } from '../../src/nodegc/cri/runtime.generated.ts';
import { UnixGrpc } from '../../src/nodegc/cri/unix-grpc.ts';
import { until } from '../program/until.ts';
import { type ArchivedImage, busyboxLayer, imageIdOf, type Layer, ociArchive } from './oci-archive.ts';

const run = promisify(execFile);

/** Where scripts/debian-containerd.sh has unpacked; an error, never a skip, when it has not. */
const directory = resolve(process.env['CONTAINERD_DIRECTORY'] ?? '.cache/containerd');

export interface ContainerdRelease {
  readonly suite: string;
  readonly version: string;
  /** Whether it has pinned images (1.7). */
  readonly pins: boolean;
}

/** Three generations, the oldest first. */
export const containerdReleases: readonly ContainerdRelease[] = [
  { suite: 'bookworm', version: '1.6', pins: false },
  { suite: 'trixie', version: '1.7', pins: true },
  { suite: 'forky', version: '2.1', pins: true },
];

function binaryOf(suite: string): string {
  const path = join(directory, suite, 'usr/bin/containerd');
  if (existsSync(path)) return path;
  throw new Error(
    `there is no containerd at ${path}. Get it with scripts/debian-containerd.sh .cache/containerd bookworm trixie forky, and name another ` +
      'directory in CONTAINERD_DIRECTORY',
  );
}

export const PAUSE_IMAGE = 'localhost/kubegc/pause:1';

function configuration(
  version: string,
  paths: { readonly root: string; readonly state: string; readonly socket: string },
): string {
  const head = `root = "${paths.root}"\nstate = "${paths.state}"\ndisabled_plugins = ["io.containerd.internal.v1.opt"]\n[grpc]\n  address = "${paths.socket}"\n`;
  if (version.startsWith('2.')) {
    return `version = 3
${head}
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  stats_collect_period = 1
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "${PAUSE_IMAGE}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
  }
  return `version = 2
${head}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  stats_collect_period = 1
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
}

const POLL_MS = 25;
const START_MS = 60_000;
const pause = (ms: number): Promise<void> => new Promise((settle) => setTimeout(settle, ms));

export interface Pod {
  readonly sandboxId: string;
  readonly uid: string;
  readonly name: string;
  readonly logDirectory: string;
}

/** A private containerd with a small disk of its own: a tmpfs, so that it is really full when it is. Needs root. */
export class ContainerdProcess {
  readonly release: ContainerdRelease;
  readonly directory: string;
  readonly endpoint: string;
  /** Where everything of containerd lies: the small disk. */
  readonly root: string;
  readonly podLogsDir: string;
  readonly containerLogsDir: string;
  runtime!: Client<typeof RuntimeService>;
  images!: Client<typeof ImageService>;
  busybox!: Layer;
  #grpc: UnixGrpc | undefined;
  #process: ChildProcess | undefined;
  readonly #binary: string;

  private constructor(release: ContainerdRelease, where: string) {
    this.release = release;
    this.directory = where;
    this.#binary = binaryOf(release.suite);
    this.root = join(where, 'root');
    this.endpoint = `unix://${join(where, 'c.sock')}`;
    this.podLogsDir = join(where, 'pods');
    this.containerLogsDir = join(where, 'containers');
  }

  /** @param diskMiB size of the disk; resolves once it answers and has the image of sandboxes */
  static async start(release: ContainerdRelease, diskMiB: number): Promise<ContainerdProcess> {
    // The path of the socket has to be short.
    const it = new ContainerdProcess(release, await mkdtemp('/tmp/kgc-'));
    await Promise.all([it.root, it.podLogsDir, it.containerLogsDir].map((path) => mkdir(path)));
    await run('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', it.root]);
    await writeFile(
      join(it.directory, 'config.toml'),
      configuration(release.version, {
        root: it.root,
        state: join(it.directory, 'state'),
        socket: join(it.directory, 'c.sock'),
      }),
    );
    it.busybox = await busyboxLayer(join(directory, 'tools/bin/busybox'));
    try {
      await it.startAgain();
      await it.import([{ name: PAUSE_IMAGE, layers: [it.busybox] }]);
      return it;
    } catch (error) {
      const log = await readFile(join(it.directory, 'log'), 'utf8').catch(() => '');
      await it.close();
      throw new Error(`containerd ${release.version} did not start:\n${log.slice(-3000)}`, { cause: error });
    }
  }

  async startAgain(): Promise<void> {
    const log = openSync(join(this.directory, 'log'), 'a');
    const tools = join(directory, 'tools');
    this.#process = spawn(this.#binary, ['--config', join(this.directory, 'config.toml')], {
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        PATH: `${join(directory, this.release.suite, 'usr/bin')}:${join(tools, 'usr/sbin')}:${process.env['PATH']}`,
        LD_LIBRARY_PATH: join(tools, 'usr/lib/x86_64-linux-gnu'),
      },
    });
    this.#grpc?.close();
    this.#grpc = new UnixGrpc(this.endpoint);
    this.runtime = createClient(RuntimeService, this.#grpc.transport);
    this.images = createClient(ImageService, this.#grpc.transport);
    const deadline = Date.now() + START_MS;
    for (;;) {
      try {
        await this.runtime.version({}, { timeoutMs: 1000 });
        await this.images.listImages({}, { timeoutMs: 1000 });
        return;
      } catch (error) {
        if (Date.now() > deadline || this.#process.exitCode !== null) throw error;
        await pause(POLL_MS);
      }
    }
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Ends the daemon, with this signal; shims and containers go on. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((settle) => child.once('exit', settle));
    child.kill(signal);
    await ended;
  }

  async import(images: readonly ArchivedImage[]): Promise<void> {
    const archive = join(this.directory, 'images.tar');
    await writeFile(archive, ociArchive(images));
    await this.ctr('images', 'import', archive);
    await rm(archive);
    // The CRI plugin hears of it a moment later.
    for (const { name } of images) {
      await until(`the runtime lists ${name}`, async () => await this.imageId(name));
    }
  }

  /** Leaves a record whose only name is a digest, as a removal that is cut off does. Returns that name. */
  async importStranded(image: ArchivedImage): Promise<string> {
    const archive = join(this.directory, 'images.tar');
    await writeFile(archive, ociArchive([image]));
    await this.ctr('images', 'import', '--no-unpack', archive);
    await rm(archive);
    const name = imageIdOf(image);
    // The runtime may have written it already.
    await this.ctr('images', 'tag', '--force', image.name, name);
    await this.ctr('images', 'rm', image.name);
    return name;
  }

  /** Names in containerd's own store. */
  async recordNames(): Promise<string[]> {
    return (await this.ctr('images', 'ls', '-q')).split('\n').filter((name) => name !== '');
  }

  async ctr(...args: readonly string[]): Promise<string> {
    const ctr = join(directory, this.release.suite, 'usr/bin/ctr');
    return (await run(ctr, ['-a', join(this.directory, 'c.sock'), '-n', 'k8s.io', ...args])).stdout;
  }

  /** The same with a file as its input. */
  async ctrWithInput(file: string, ...args: readonly string[]): Promise<void> {
    const ctr = join(directory, this.release.suite, 'usr/bin/ctr');
    await run(
      'sh',
      ['-c', 'input=$1; shift; exec "$@" < "$input"', 'sh', file, ctr]
        .concat(['-a', join(this.directory, 'c.sock')])
        .concat(['-n', 'k8s.io', ...args]),
    );
  }

  async imageId(name: string): Promise<string | undefined> {
    return (await this.images.imageStatus({ image: { image: name } })).image?.id;
  }

  /** Tags of all images, sorted. */
  async imageNames(): Promise<string[]> {
    const { images } = await this.images.listImages({});
    return images.flatMap(({ repoTags }) => repoTags).toSorted();
  }

  async runPod(name: string, uid = `uid-${name}`, attempt = 0): Promise<Pod> {
    const logDirectory = join(this.podLogsDir, `default_${name}_${uid}`);
    const labels = {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': uid,
    };
    const { podSandboxId } = await this.runtime.runPodSandbox({
      config: this.#sandboxConfig(name, uid, attempt, logDirectory, labels),
    });
    return { sandboxId: podSandboxId, uid, name, logDirectory };
  }

  #sandboxConfig(name: string, uid: string, attempt: number, logDirectory: string, labels: Record<string, string>) {
    return {
      metadata: { name, uid, namespace: 'default', attempt },
      logDirectory,
      labels,
      // The pod uses the node's network: there is no CNI here.
      linux: { securityContext: { namespaceOptions: { network: 2 } } },
    };
  }

  /** Creates a container and starts it by default; resolves with its id. */
  async runContainer(
    pod: Pod,
    image: string,
    options: {
      readonly name?: string;
      readonly attempt?: number;
      readonly command?: readonly string[];
      readonly start?: boolean;
      readonly volumes?: readonly string[];
    } = {},
  ): Promise<string> {
    const { name = 'app', attempt = 0, command = ['/bin/sleep', 'infinity'], start = true, volumes = [] } = options;
    await mkdir(join(pod.logDirectory, name), { recursive: true });
    const labels = {
      'io.kubernetes.pod.name': pod.name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': pod.uid,
      'io.kubernetes.container.name': name,
    };
    const { containerId } = await this.runtime.createContainer({
      podSandboxId: pod.sandboxId,
      config: {
        metadata: { name, attempt },
        image: { image: (await this.imageId(image)) ?? image, userSpecifiedImage: image },
        command: [...command],
        labels,
        logPath: `${name}/${attempt}.log`,
        mounts: volumes.map((volume, index) => ({
          containerPath: `/volume-${index}`,
          readonly: true,
          image: { image: volume },
        })),
        linux: { securityContext: { namespaceOptions: { network: 2 } } },
      },
      sandboxConfig: this.#sandboxConfig(pod.name, pod.uid, 0, pod.logDirectory, {}),
    });
    if (start) await this.runtime.startContainer({ containerId });
    return containerId;
  }

  async untilExited(containerId: string): Promise<void> {
    await until(
      `container ${containerId} ends`,
      async () => (await this.runtime.containerStatus({ containerId })).status?.state === 2,
    );
  }

  async containerIds(): Promise<string[]> {
    return (await this.runtime.listContainers({})).containers.map(({ id }) => id).toSorted();
  }

  /** Ends every pod, the daemon, and its disk. */
  async close(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      const { items } = await this.runtime.listPodSandbox({}).catch(() => ({ items: [] }));
      for (const { id: podSandboxId } of items) {
        await this.runtime.stopPodSandbox({ podSandboxId }).catch(() => undefined);
        await this.runtime.removePodSandbox({ podSandboxId }).catch(() => undefined);
      }
    }
    this.#grpc?.close();
    await this.stop();
    await run('umount', [this.root]).catch(() => undefined);
    await rm(this.directory, { recursive: true, force: true });
  }
}
