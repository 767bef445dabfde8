import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../dist/kubegc.js', import.meta.url));

/** The built `kubegc collect` as a measured process. */
export class CollectProcess {
  readonly child: ChildProcess;
  /** Resolves when it says that it is ready: all monitors are synced, or half a minute is over. */
  readonly ready: Promise<void>;
  /** Clock of this process when the other was spawned, ms. */
  readonly spawnedAt = performance.now();
  #output = '';

  /** `env`: beside what this process has. `niceness`: as of `nice -n`. */
  constructor(
    kubeconfig: string,
    args: readonly string[],
    { env = {}, niceness = 0 }: { env?: Readonly<Record<string, string>>; niceness?: number } = {},
  ) {
    if (!existsSync(dist)) throw new Error('dist/kubegc.js is missing: npm run build');
    const common = ['collect', '--kubeconfig', kubeconfig, '--leader-elect=false', '--bind-address', '127.0.0.1:0'];
    this.child = spawn(process.execPath, [dist, ...common, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    if (niceness !== 0 && this.child.pid !== undefined) setPriority(this.child.pid, niceness);
    this.ready = new Promise((settle, reject) => {
      const note = (chunk: unknown): void => {
        this.#output += String(chunk);
        if (this.#output.includes('kubegc is ready')) settle();
      };
      this.child.stdout?.on('data', note);
      this.child.stderr?.on('data', note);
      this.child.on('exit', (code) => reject(new Error(`kubegc collect ended with ${code}: ${this.#output}`)));
    });
    this.ready.catch(() => undefined);
  }

  get output(): string {
    return this.#output;
  }

  get residentBytes(): number {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]) * 1024;
  }

  /** Whether it has a file of such a name in its memory, as the program or as a library. */
  hasMapped(name: string): boolean {
    return readFileSync(`/proc/${this.child.pid}/maps`, 'utf8').includes(name);
  }

  get openHandles(): number {
    return readdirSync(`/proc/${this.child.pid}/fd`).length;
  }

  /** The sum over all label sets that match. */
  async metric(name: string, labels = ''): Promise<number> {
    const text = await (await fetch(`${this.#url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines.filter((line) => line.includes(labels)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Has it list everything anew, and answers with the resources that this is. */
  async rescan(): Promise<readonly string[]> {
    const page = `${this.#url}/debug/controllers/garbage-collector-controller/rescan`;
    const answer = (await (await fetch(page, { method: 'POST' })).json()) as { listing: string[] };
    return answer.listing.toSorted();
  }

  get #url(): string {
    return /debug graph: (\S+)/.exec(this.#output)?.[1] ?? '';
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((settle) => this.child.once('close', settle));
    this.child.kill('SIGTERM');
    await ended;
  }
}
