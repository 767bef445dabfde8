import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processCpuMicros } from './process-cpu.ts';

const dist = fileURLToPath(new URL('../../dist/kubegc.js', import.meta.url));

/** The built program as a measured process, with a fresh data directory. */
export class ServerProcess {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  /** Clock of this process when the other was spawned, ms. */
  readonly spawnedAt: number;

  /** `env`: beside what this process has. */
  constructor(options: { args?: readonly string[]; directory?: string; env?: Readonly<Record<string, string>> } = {}) {
    if (!existsSync(dist)) throw new Error('dist/kubegc.js is missing: npm run build');
    this.directory = options.directory ?? mkdtempSync(join(tmpdir(), 'kubegc-bench-'));
    this.kubeconfig = join(this.directory, 'kubeconfig');
    const args = [
      'up',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      join(this.directory, 'data'),
      '--write-kubeconfig',
      this.kubeconfig,
    ];
    this.spawnedAt = performance.now();
    this.child = spawn(process.execPath, [dist, ...args, '--log-level', 'error', ...(options.args ?? [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...options.env },
    });
    this.ready = new Promise((settle, reject) => {
      let output = '';
      this.child.stdout?.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('kubegc is ready')) settle();
      });
      this.child.on('exit', (code) => reject(new Error(`kubegc ended with ${code}: ${output}`)));
    });
  }

  /** User and system time it has used so far, µs. */
  get cpuMicros(): number {
    return processCpuMicros(this.child.pid);
  }

  /** Resident set, bytes. */
  get residentBytes(): number {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]) * 1024;
  }

  async stop(keepDirectory = false): Promise<void> {
    const ended = new Promise((settle) => this.child.once('close', settle));
    this.child.kill('SIGTERM');
    await ended;
    if (!keepDirectory) rmSync(this.directory, { recursive: true, force: true });
  }
}
