import { Agent, request } from 'node:https';
import { readKubeconfig } from './read-kubeconfig.ts';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/**
 * A few lines of node:https for tests that must not lean on the product's own client: one request, one JSON answer, and
 * nothing retried. Rejects when the connection breaks, so that a caller knows that an answer is missing.
 */
export class ApiClient {
  readonly #agent: Agent;
  readonly #origin: URL;
  readonly #authorization: string;

  constructor(kubeconfigPath: string) {
    const { origin, ca, authorization } = readKubeconfig(kubeconfigPath);
    this.#origin = origin;
    this.#authorization = authorization;
    this.#agent = new Agent({ keepAlive: true, ca });
  }

  send(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<Answer> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
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
            accept: 'application/json',
            ...(payload ? { 'content-type': contentType, 'content-length': payload.length } : {}),
          },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            if (!incoming.complete) return reject(new Error('the answer was cut off'));
            const text = Buffer.concat(chunks).toString();
            try {
              settle({ status: incoming.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : { text } });
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** Begins a watch. Resolves at its first bytes, and rejects if it is refused or ends before them; `ended` resolves when the stream is over, also when it breaks. */
  watch(path: string): Promise<{ readonly ended: Promise<void> }> {
    return new Promise((settle, reject) => {
      const { hostname: host, port } = this.#origin;
      const headers = { authorization: this.#authorization, accept: 'application/json' };
      const outgoing = request({ agent: this.#agent, host, port, path, headers }, (incoming) => {
        if (incoming.statusCode !== 200) reject(new Error(`the watch was answered with ${incoming.statusCode}`));
        const ended = new Promise<void>((over) => incoming.once('close', over));
        incoming.on('error', () => undefined).on('data', () => settle({ ended }));
        incoming.once('close', () => reject(new Error('the watch ended before its first bytes')));
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
