import { spawn } from 'node:child_process';

const source = `
const { createSecureServer } = require('node:http2');
let connections = 0;
let answered = 0;
process.once('message', ({ cert, key, answer }) => {
  const body = Buffer.from(answer);
  const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    let length = 0;
    request.on('data', (chunk) => (length += chunk.length));
    request.on('end', () => {
      // A DELETE whose body got lost on the way is not the request that is measured.
      const status = request.method === 'DELETE' && length > 0 ? 200 : 400;
      answered++;
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  // A connection that is idle while the others are measured is not to be opened again.
  server.keepAliveTimeout = 0;
  server.on('secureConnection', () => connections++);
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('message', () => process.send({ connections, answered }));
});
`;

export interface Counts {
  /** TLS handshakes so far. */
  readonly connections: number;
  readonly answered: number;
}

/**
 * A server in a process of its own that answers every DELETE with constant bytes, over HTTP/1.1 or HTTP/2 as the client
 * wishes, and counts connections.
 */
export async function startCountingResponder(options: {
  certPem: string;
  keyPem: string;
  answer: string;
}): Promise<{ port: number; counts(): Promise<Counts>; stop(): void }> {
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const reply = <T>(message: object): Promise<T> =>
    new Promise((settle, reject) => {
      const failed = (code: number | null): void => reject(new Error(`the responder ended with ${code}`));
      child.once('exit', failed);
      child.once('message', (answer) => {
        child.off('exit', failed);
        settle(answer as T);
      });
      child.send(message);
    });
  const { port } = await reply<{ port: number }>({
    cert: options.certPem,
    key: options.keyPem,
    answer: options.answer,
  });
  return { port, counts: () => reply<Counts>({}), stop: () => void child.kill() };
}
