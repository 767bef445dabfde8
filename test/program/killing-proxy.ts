import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readKubeconfig } from './read-kubeconfig.ts';

/** Right before a call reaches the server, or after it took effect and before its answer. */
export type Moment = 'before' | 'after';

export interface Trap {
  /** Which calls count. */
  readonly counts: (method: string, path: string) => boolean;
  /** Index among those that count. */
  readonly call: number;
  readonly moment: Moment;
  /** Ends the process on the other side; resolves when it has ended. */
  readonly kill: () => Promise<unknown>;
}

/**
 * Stands between a process and the server, as plain HTTP, and kills the process at one of its calls. The proxy authenticates to the server,
 * because plain HTTP has no client certificate.
 */
export class KillingProxy {
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #upstream: URL;
  readonly #authorization: string;
  #trap: Trap | undefined;
  #counted = 0;
  #underWay = 0;
  /** The call at which the process was killed; undefined while it lives. */
  sprung: string | undefined;

  private constructor(kubeconfig: string) {
    const { origin, ca, authorization } = readKubeconfig(kubeconfig);
    this.#upstream = origin;
    this.#authorization = authorization;
    this.#agent = new Agent({ keepAlive: true, ca });
    this.#server = createServer((incoming, answer) => {
      void this.#handle(incoming, answer).catch(() => answer.destroy());
    });
  }

  /** On a free port of the loopback interface. */
  static async start(kubeconfig: string): Promise<KillingProxy> {
    const proxy = new KillingProxy(kubeconfig);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** No call that counts is on its way. */
  get quiet(): boolean {
    return this.#underWay === 0;
  }

  /** From now on; the one before is taken away. */
  set(trap: Trap | undefined): void {
    this.#trap = trap;
    this.#counted = 0;
    this.sprung = undefined;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    this.#agent.destroy();
  }

  async #handle(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = incoming;
    const trap = this.#trap;
    const counts = trap?.counts(method, url.split('?')[0] ?? '') === true;
    if (counts) {
      this.#underWay++;
      answer.once('close', () => this.#underWay--);
    }
    const springs = counts && this.#counted++ === trap.call;
    if (springs && trap.moment === 'before') return this.#spring(trap, `${method} ${url}`, answer);
    const outgoing = request({
      agent: this.#agent,
      host: this.#upstream.hostname,
      port: this.#upstream.port,
      method,
      path: url,
      headers: { ...incoming.headers, host: this.#upstream.host, authorization: this.#authorization },
    });
    answer.on('close', () => outgoing.destroy());
    const response = await new Promise<IncomingMessage>((arrived, failed) => {
      outgoing.once('response', arrived).once('error', failed);
      incoming.pipe(outgoing);
    });
    if (springs) return this.#spring(trap, `${method} ${url}`, answer);
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
    // A watch that has nothing to show yet has begun all the same.
    answer.flushHeaders();
  }

  async #spring(trap: Trap, what: string, answer: ServerResponse): Promise<void> {
    this.sprung = what;
    await trap.kill();
    answer.destroy();
  }
}
