import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The etcd binaries to test with, from ETCD_PATHS (separated by colons), else the one of the Debian package. It is an error,
 * never a skip, when there is none.
 */
export function etcdPaths(): readonly string[] {
  const paths = (process.env['ETCD_PATHS'] ?? '/usr/bin/etcd').split(':').filter((path) => path !== '');
  if (paths.length === 0 || !paths.every((path) => existsSync(path))) {
    throw new Error(
      `there is no etcd at ${paths.join(', ')}. Get some with scripts/debian-etcd.sh .cache/etcd bookworm trixie, and name the binaries, ` +
        'separated by colons, in ETCD_PATHS; or apt-get install etcd-server etcd-client',
    );
  }
  return paths;
}

/** The first one, which is the oldest that is supported. */
export const [etcdPath = ''] = etcdPaths();

/** The client that lies beside it. */
export const etcdctlPath = join(dirname(etcdPath), 'etcdctl');

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((settle, reject) => {
          const server = createServer();
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => settle(server));
        }),
    ),
  );
  return Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((settle) => {
          const address = server.address();
          server.close(() => settle(typeof address === 'object' && address !== null ? address.port : 0));
        }),
    ),
  );
}

export interface EtcdMemberOptions {
  readonly path?: string;
  readonly name?: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** `name=http://127.0.0.1:port,…`; alone unless given. */
  readonly cluster?: string;
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly args?: readonly string[];
}

const READY_MS = 120_000;

export interface EtcdCluster extends AsyncDisposable {
  readonly members: readonly EtcdProcess[];
}

/** One etcd in a process and a directory of its own. */
export class EtcdProcess {
  readonly url: string;
  readonly #options: EtcdMemberOptions;
  readonly #directory: string;
  #child: ChildProcess | undefined;
  #output = '';
  #ended: Promise<void> = Promise.resolve();

  private constructor(options: EtcdMemberOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${options.clientPort}`;
  }

  /** Alone, on free ports. */
  static async start(options: Partial<EtcdMemberOptions> = {}): Promise<EtcdProcess> {
    const [clientPort = 0, peerPort = 0] = await freePorts(2);
    const etcd = await EtcdProcess.create({ clientPort, peerPort, ...options });
    await etcd.run();
    return etcd;
  }

  /** Several that form a cluster. */
  static async startCluster(size: number, path = etcdPath): Promise<EtcdCluster> {
    const ports = await freePorts(size * 2);
    const name = (i: number): string => `m${i}`;
    const cluster = Array.from({ length: size }, (_, i) => `${name(i)}=http://127.0.0.1:${ports[size + i]}`).join(',');
    const members = await Promise.all(
      Array.from({ length: size }, (_, i) =>
        EtcdProcess.create({
          path,
          name: name(i),
          clientPort: ports[i] ?? 0,
          peerPort: ports[size + i] ?? 0,
          cluster,
        }),
      ),
    );
    await Promise.all(members.map((member) => member.run()));
    const end = async (): Promise<void> => {
      await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
    };
    return { members, [Symbol.asyncDispose]: end };
  }

  private static async create(options: EtcdMemberOptions): Promise<EtcdProcess> {
    return new EtcdProcess(options, await mkdtemp(join(tmpdir(), 'kubegc-etcd-')));
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it, also again, and waits until it serves clients. */
  async run(): Promise<void> {
    const { path = etcdPath, name = 'alone', peerPort, cluster, tls, args = [] } = this.#options;
    const peer = `http://127.0.0.1:${peerPort}`;
    const security =
      tls === undefined
        ? []
        : ['--client-cert-auth', `--trusted-ca-file=${tls.ca}`, `--cert-file=${tls.cert}`, `--key-file=${tls.key}`];
    this.#output = '';
    const child = spawn(
      path,
      [
        `--name=${name}`,
        `--data-dir=${this.#directory}`,
        `--listen-client-urls=${this.url}`,
        `--advertise-client-urls=${this.url}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=${cluster ?? `${name}=${peer}`}`,
        '--logger=zap',
        ...security,
        ...args,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'] ?? '', HOME: this.#directory } },
    );
    this.#child = child;
    const said = new Promise<void>((settle, reject) => {
      const timer = setTimeout(() => reject(new Error(`etcd did not get ready:\n${this.#output}`)), READY_MS);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        // Only the way to readiness is of interest.
        if (this.#output.length < 1 << 20) this.#output += text;
        if (!/serving (insecure )?client (traffic|requests)/.test(this.#output)) return;
        clearTimeout(timer);
        settle();
      });
      child.once('error', reject);
      child.once('exit', () => {
        clearTimeout(timer);
        reject(new Error(`etcd ended:\n${this.#output}`));
      });
    });
    this.#ended = new Promise((settle) => child.once('close', () => settle()));
    await said;
  }

  /** Forgets everything, while it does not run. */
  async wipe(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
    await mkdir(this.#directory, { mode: 0o700 });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal);
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
