import { type BaselineProcess, startBaseline } from './baseline-process.ts';

const source = `
const block = Buffer.alloc(64 * 1024, 'x');
function handle(request, response) {
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
}
`;

/** The baseline of P10: a node:https server in a process of its own that sends `?bytes=N` bytes, in blocks of 64 KiB. */
export function startByteSource(dataDirectory: string): Promise<BaselineProcess> {
  return startBaseline({ dataDirectory, source });
}
