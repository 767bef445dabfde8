import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { token?: string } }[];
}

/**
 * A few lines of node:https for tests that must not lean on the product's own client: one request, one JSON answer, and
 * nothing retried. Rejects when the connection breaks, so that a caller knows that an answer is missing.
 */
export class ApiClient {
  readonly #agent: Agent;
  readonly #origin: URL;
  readonly #token: string;

  constructor(kubeconfigPath: string) {
    const { clusters, users } = parse(readFileSync(kubeconfigPath, 'utf8')) as Kubeconfig;
    const cluster = clusters[0]?.cluster;
    if (!cluster) throw new Error(`${kubeconfigPath} has no cluster`);
    this.#origin = new URL(cluster.server);
    this.#token = users[0]?.user.token ?? '';
    this.#agent = new Agent({ keepAlive: true, ca: Buffer.from(cluster['certificate-authority-data'], 'base64') });
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
            authorization: `Bearer ${this.#token}`,
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

  close(): void {
    this.#agent.destroy();
  }
}
