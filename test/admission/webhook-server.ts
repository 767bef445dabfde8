import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import {
  createServingCertificates,
  type ServingCertificates,
} from '../../src/apiserver/authentication/certificates.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';

/** An AdmissionReview or ConversionReview as it came over the wire. */
export interface ReceivedReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: ReceivedRequest;
}

export interface ReceivedRequest {
  readonly uid: string;
  readonly kind: { group: string; version: string; kind: string };
  readonly resource: { group: string; version: string; resource: string };
  readonly subResource?: string;
  readonly requestKind: { group: string; version: string; kind: string };
  readonly requestResource: { group: string; version: string; resource: string };
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly userInfo: { username: string; groups?: string[] };
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
  readonly dryRun: boolean;
  readonly options: KubeObject | null;
  readonly desiredAPIVersion: string;
  readonly objects: KubeObject[];
}

interface Head {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of answers with status 102 before the answer. */
  readonly informational?: number;
}

/** The reaction of a webhook to a call: it answers with a body of its own, fails as a server may, or goes silent. */
export type Reaction = ({ readonly body: unknown } & Head) | ({ readonly text: string } & Head) | 'hang' | 'reset';

export type Behaviour = (review: ReceivedReview, call: { readonly path: string }) => Reaction | Promise<Reaction>;

let certificates: Promise<ServingCertificates> | undefined;

/** One authority for all servers of a test file. */
function testCertificates(): Promise<ServingCertificates> {
  certificates ??= createServingCertificates({
    clock: systemClock,
    random: systemRandom,
    hosts: ['hook.default.svc', 'hook.tools.svc'],
  });
  return certificates;
}

/** A webhook over real HTTPS. Everything it was sent is kept. */
export class WebhookServer {
  readonly calls: { readonly target: string; readonly host: string; readonly review: ReceivedReview }[] = [];
  readonly port: number;
  readonly caBundle: string;
  behaviour: Behaviour = allow;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor(server: Server, caPem: string) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.caBundle = Buffer.from(caPem).toString('base64');
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<WebhookServer> {
    const { certPem, keyPem, caPem } = await testCertificates();
    const server = createServer({ cert: certPem, key: keyPem });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WebhookServer(server, caPem);
  }

  url(path = '/hook'): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /** For a `clientConfig`. */
  at(path?: string): { url: string; caBundle: string } {
    return { url: this.url(path), caBundle: this.caBundle };
  }

  get requests(): ReceivedRequest[] {
    return this.calls.map(({ review }) => review.request);
  }

  reset(): void {
    this.calls.length = 0;
    this.behaviour = allow;
  }

  /** Idle connections are cut, as by a webhook that restarts. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedReview;
    const target = request.url ?? '';
    this.calls.push({ target, host: request.headers.host ?? '', review });
    const reaction = await this.behaviour(review, { path: target.split('?')[0] ?? '' });
    if (reaction === 'hang') return;
    if (reaction === 'reset') {
      request.socket.destroy();
      return;
    }
    for (let sent = 0; sent < (reaction.informational ?? 0); sent++) response.writeProcessing();
    response.statusCode = reaction.status ?? 200;
    for (const [name, value] of Object.entries(reaction.headers ?? {})) response.setHeader(name, value);
    response.setHeader('content-type', 'application/json');
    response.end('text' in reaction ? reaction.text : JSON.stringify(reaction.body));
  }
}

export interface WebhookTest {
  readonly hook: WebhookServer;
  readonly server: TestServer;
}

/**
 * For the top of a file or of a `describe`: a webhook and a server that its tests share. After each test all objects of the
 * collections `cleared` are deleted, in this order, and the webhook is as new.
 */
export function webhookTest(cleared: readonly string[], started: (test: WebhookTest) => void | Promise<void>): void {
  let test: WebhookTest;
  beforeAll(async () => {
    test = { hook: await WebhookServer.start(), server: await startTestServer() };
    await started(test);
  });
  afterAll(async () => {
    await test.server.server.stop();
    await test.hook.close();
  });
  afterEach(async () => {
    for (const collection of cleared) await test.server.delete(collection);
    test.hook.reset();
  });
}

/** An AdmissionReview that answers another one. */
export function answer({ apiVersion, request }: ReceivedReview, response: object): { readonly body: unknown } {
  return { body: { kind: 'AdmissionReview', apiVersion, response: { uid: request.uid, ...response } } };
}

export const allow: Behaviour = (review) => answer(review, { allowed: true });

export function deny(status: object): Behaviour {
  return (review) => answer(review, { allowed: false, status });
}

export function patchWith(...operations: object[]): Behaviour {
  return (review) =>
    answer(review, {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    });
}

/** A configuration with one webhook that is asked about everything namespaced, unless said otherwise. */
export function configuration(type: 'Mutating' | 'Validating', name: string, ...hooks: object[]): KubeObject {
  const defaults = {
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}WebhookConfiguration`,
    metadata: { name },
    webhooks: hooks.map((hook, index) => ({ name: `hook-${index}.example.com`, ...defaults, ...hook })),
  };
}

export const mutating = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
export const validating = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
