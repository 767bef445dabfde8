import { spawn } from 'node:child_process';
import { join } from 'node:path';

const source = `
const { createServer } = require('node:https');
const { readFileSync } = require('node:fs');
const [cert, key] = process.argv.slice(1, 3).map((file) => readFileSync(file));
const block = Buffer.alloc(64 * 1024, 'x');
createServer({ cert, key }, (request, response) => {
  let left = Number(new URL(request.url, 'https://here').searchParams.get('bytes'));
  response.writeHead(200, { 'content-type': 'application/json' });
  const send = () => {
    while (left > 0) {
      const piece = left >= block.length ? block : block.subarray(0, left);
      left -= piece.length;
      if (!response.write(piece)) return void response.once('drain', send);
    }
    response.end();
  };
  send();
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** The baseline of P10: a node:https server in a process of its own that sends `?bytes=N` bytes, in blocks of 64 KiB. */
export async function startByteSource(dataDirectory: string): Promise<{ readonly port: number; stop(): void }> {
  const files = [join(dataDirectory, 'server.crt'), join(dataDirectory, 'server.key')];
  const child = spawn(process.execPath, ['-e', source, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((settle) =>
    child.stdout.once('data', (chunk) => settle(Number(String(chunk)))),
  );
  return { port, stop: () => void child.kill() };
}
