import { type BaselineProcess, startBaseline } from './baseline-process.ts';

const source = `
const watchers = new Set();
function handle(request, response) {
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
}
`;

/** The baseline of P11: a process that keeps every GET open and, for each write, encodes the event once for each of them. */
export function startNaiveFanOut(dataDirectory: string): Promise<BaselineProcess> {
  return startBaseline({ dataDirectory, source });
}
