import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { readKubeconfig } from '../../test/program/read-kubeconfig.ts';

interface MediaTypes {
  readonly accept?: string;
  readonly contentType?: string;
}

/** Keep-alive HTTPS requests from `connections` closed loops, as a load generator: nothing is parsed but the status. */
export class Load {
  readonly #agent: Agent;
  readonly #origin: URL;
  readonly #authorization: string;
  readonly connections: number;

  /** `port` aims the same requests at another server with the same certificate. */
  constructor(kubeconfigPath: string, connections: number, port?: number) {
    const { origin, ca, authorization } = readKubeconfig(kubeconfigPath);
    this.#origin = origin;
    if (port !== undefined) this.#origin.port = String(port);
    this.#authorization = authorization;
    this.connections = connections;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      scheduling: 'fifo',
      ca,
    });
  }

  send(method: string, path: string, body?: Buffer, contentType = 'application/json'): Promise<number> {
    return new Promise((settle, reject) => {
      this.open(method, path, body, { contentType }).then((answer) => {
        answer.resume();
        answer.once('end', () => settle(answer.statusCode ?? 0));
        answer.once('error', reject);
      }, reject);
    });
  }

  /** Returns the body of the answer; rejects unless the answer is a success. */
  async json<T>(method: string, path: string, body?: object, accept?: string): Promise<T> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    const answer = await this.open(method, path, bytes, accept === undefined ? {} : { accept });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if ((answer.statusCode ?? 0) >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as T;
  }

  open(method: string, path: string, body?: Buffer, types: MediaTypes = {}): Promise<IncomingMessage> {
    const { accept = 'application/json', contentType = 'application/json' } = types;
    return new Promise((settle, reject) => {
      const outgoing = request(
        {
          agent: this.#agent,
          host: this.#origin.hostname,
          port: this.#origin.port,
          method,
          path,
          headers: {
            authorization: this.#authorization,
            accept,
            ...(body ? { 'content-type': contentType, 'content-length': body.length } : {}),
          },
        },
        settle,
      );
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  /** Runs `operation(0 … count-1)` from as many closed loops as there are connections. Resolves with the seconds it took. */
  async each(count: number, operation: (index: number) => Promise<number>, expected: number): Promise<number> {
    let next = 0;
    const started = performance.now();
    const loop = async (): Promise<void> => {
      while (next < count) {
        const status = await operation(next++);
        if (status !== expected) throw new Error(`expected ${expected}, got ${status}`);
      }
    };
    await Promise.all(Array.from({ length: this.connections }, loop));
    return (performance.now() - started) / 1000;
  }

  close(): void {
    this.#agent.destroy();
  }
}
