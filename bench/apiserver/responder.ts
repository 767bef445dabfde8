import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { processCpuMicros } from '../program/process-cpu.ts';

const source = `
const { createServer } = require('node:https');
const { readFileSync } = require('node:fs');
const [cert, key] = process.argv.slice(1, 3).map((file) => readFileSync(file));
const answer = Buffer.from(process.argv[3]);
createServer({ cert, key }, (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** The baseline of P08: a node:https server that reads the request and answers with constant bytes, in its own process. */
export async function startResponder(
  dataDirectory: string,
  answer: string,
): Promise<{ port: number; cpuMicros(): number; stop(): void }> {
  const child = spawn(
    process.execPath,
    ['-e', source, join(dataDirectory, 'server.crt'), join(dataDirectory, 'server.key'), answer],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const port = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  return {
    port,
    cpuMicros: () => processCpuMicros(child.pid),
    stop: () => void child.kill(),
  };
}
