import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { processCpuMicros } from '../program/process-cpu.ts';

export interface BaselineProcess {
  readonly port: number;
  cpuMicros(): number;
  stop(): void;
}

export interface BaselineOptions {
  /** Data directory of the server that is compared with the baseline: both have the same certificate. */
  readonly dataDirectory: string;
  /** JavaScript that declares `handle(request, response)`. */
  readonly source: string;
  /** For the source, `process.argv[3]` and on. */
  readonly args?: readonly string[];
}

const prelude = `
const { createServer } = require('node:https');
const { readFileSync } = require('node:fs');
const [cert, key] = process.argv.slice(1, 3).map((file) => readFileSync(file));
`;
const listen = `
createServer({ cert, key }, handle).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** A node:https server in a process of its own, without anything of ours in it. */
export async function startBaseline({ dataDirectory, source, args = [] }: BaselineOptions): Promise<BaselineProcess> {
  const files = [join(dataDirectory, 'server.crt'), join(dataDirectory, 'server.key')];
  const child = spawn(process.execPath, ['-e', prelude + source + listen, ...files, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  return { port, cpuMicros: () => processCpuMicros(child.pid), stop: () => void child.kill() };
}
