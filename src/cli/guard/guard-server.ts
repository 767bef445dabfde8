import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyCertificate } from '../../apiserver/authentication/certificate-signer.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { Guard } from '../../cascade/guard/guard.ts';
import { parseReview, reviewAnswer, ReviewError } from '../../cascade/guard/review.ts';
import { listen, portOf } from '../flags/listen.ts';
import type { ListenAddress } from '../flags/listen-address.ts';

export interface GuardServerOptions {
  readonly listen: ListenAddress;
  readonly certificate: KeyCertificate;
  readonly guard: Guard;
  /** Undefined if it is ready. */
  readonly notReadyBecause: () => string | undefined;
  readonly onRefused: (about: { readonly user: string; readonly message: string }) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Maximum bytes of a review: an object of 1.5 MiB twice, in JSON. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_CONNECTIONS = 256;
/** Maximum number of concurrent reviews. Beyond it, the API server uses its failure policy. */
const MOST_REVIEWS = 64;
const HEADERS_TIMEOUT_MS = 5000;

/** The webhook over HTTPS: `/validate` for reviews, `/healthz` and `/readyz` for probes. A new certificate applies to new connections. */
export class GuardServer {
  readonly #options: GuardServerOptions;
  readonly #server: Server;
  #reviews = 0;

  private constructor(options: GuardServerOptions) {
    this.#options = options;
    const { certPem: cert, keyPem: key } = options.certificate;
    this.#server = createServer(
      { cert, key, minVersion: 'TLSv1.2', headersTimeout: HEADERS_TIMEOUT_MS },
      (request, response) => {
        this.#answer(request, response).catch((error: unknown) => {
          options.onFailed(error);
          if (!response.headersSent) send(response, 500, messageOf(error));
        });
      },
    );
    this.#server.maxConnections = MOST_CONNECTIONS;
  }

  static async start(options: GuardServerOptions): Promise<GuardServer> {
    const server = new GuardServer(options);
    await listen(server.#server, options.listen, '--listen');
    return server;
  }

  get port(): number {
    return portOf(this.#server, this.#options.listen);
  }

  renew({ certPem: cert, keyPem: key }: KeyCertificate): void {
    this.#server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/healthz' || path === '/livez') return send(response, 200, 'ok');
    if (path === '/readyz') {
      const reason = this.#options.notReadyBecause();
      return send(response, reason === undefined ? 200 : 503, reason === undefined ? 'ok' : `not ready: ${reason}`);
    }
    if (path !== '/validate') return send(response, 404, 'reviews are sent to /validate');
    if (request.method !== 'POST') return send(response, 405, 'reviews are sent with POST');
    if (this.#reviews >= MOST_REVIEWS) return send(response, 429, 'too many reviews are under way');
    this.#reviews++;
    try {
      await this.#review(request, response);
    } finally {
      this.#reviews--;
    }
  }

  async #review(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { guard, onRefused, onFailed } = this.#options;
    const text = await bodyOf(incoming);
    if (text === undefined) return send(response, 413, 'the review is too large');
    let review: ReturnType<typeof parseReview>;
    try {
      review = parseReview(text);
    } catch (error) {
      if (!(error instanceof ReviewError)) throw error;
      return send(response, 400, error.message);
    }
    try {
      const verdict = await guard.answer(review.request);
      if (verdict.verdict === 'deny') onRefused({ user: review.request.user.username, message: verdict.message });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reviewAnswer(review.uid, verdict)));
    } catch (error) {
      // Without a verdict, the failure policy of the configuration decides about the request.
      onFailed(error);
      send(response, 503, `the guard could not read the cluster: ${messageOf(error)}`);
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(text);
}
