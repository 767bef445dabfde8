import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { processCpuMicros } from '../program/process-cpu.ts';

const source = `
const { createServer } = require('node:https');
const { readFileSync } = require('node:fs');
const [cert, key] = process.argv.slice(1, 3).map((file) => readFileSync(file));
const watchers = new Set();
createServer({ cert, key }, (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watchers.add(response);
    request.on('close', () => watchers.delete(response));
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const object = JSON.parse(Buffer.concat(chunks));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(object));
    for (const watcher of watchers) watcher.write(JSON.stringify({ type: 'MODIFIED', object }) + '\\n');
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** The baseline of P11: a process that keeps every GET open and, for each write, encodes the event once for each of them. */
export async function startNaiveFanOut(
  dataDirectory: string,
): Promise<{ readonly port: number; cpuMicros(): number; stop(): void }> {
  const files = [join(dataDirectory, 'server.crt'), join(dataDirectory, 'server.key')];
  const child = spawn(process.execPath, ['-e', source, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  return {
    port,
    cpuMicros: () => processCpuMicros(child.pid),
    stop: () => void child.kill(),
  };
}
