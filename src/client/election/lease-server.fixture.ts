import { newAlreadyExists, newConflict, newNotFound, type StatusError } from '../../api/status-error.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Interceptor } from '../rest/interceptor.ts';
import type { Lease } from './leader-election.ts';
import { TransportError } from '../http/transport.ts';

const resource = { group: 'coordination.k8s.io', resource: 'leases' };

/** A server of leases with an API server's optimistic concurrency. */
export class LeaseServer {
  readonly leases = new Map<string, Lease>();
  readonly requests: string[] = [];
  #revision = 0;

  readonly handler: HttpHandler = (request) => {
    const [, , , , , namespace = '', , name] = request.target.split('/');
    this.requests.push(request.method);
    try {
      return Promise.resolve(answer(200, this.#answer(request, namespace, name)));
    } catch (error) {
      const { status, code } = error as StatusError;
      return Promise.resolve(answer(code, status));
    }
  };

  get(name: string): Lease | undefined {
    return this.leases.get(name);
  }

  /** Writes as another client that is not a candidate. */
  set(name: string, lease: Lease): void {
    const metadata = { ...lease.metadata, name, resourceVersion: String(++this.#revision) };
    this.leases.set(name, { ...lease, metadata });
  }

  #answer({ method, body }: HttpRequest, namespace: string, name: string | undefined): Lease {
    const sent = body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString()) as Lease);
    const key = name ?? sent?.metadata?.name ?? '';
    const stored = this.leases.get(key);
    if (method === 'POST') {
      if (stored !== undefined) throw newAlreadyExists(resource, key);
      this.set(key, { ...sent, metadata: { ...sent?.metadata, namespace } });
    } else {
      if (stored === undefined) throw newNotFound(resource, key);
      if (method === 'PUT') {
        if (sent?.metadata?.resourceVersion !== stored.metadata?.resourceVersion) throw newConflict(resource, key);
        this.set(key, sent ?? {});
      }
    }
    return this.leases.get(key) ?? {};
  }
}

/** The connection between a candidate and the server: open, closed both ways, or closed for answers. */
export class Wire {
  state: 'up' | 'cut' | 'answersLost' = 'up';
  /** Answers wait until this promise settles. */
  answersHeld: Promise<void> = Promise.resolve();

  readonly intercept: Interceptor = async (request, next) => {
    if (this.state === 'cut') throw new TransportError('refused', 'no way there');
    const response = await next(request);
    await this.answersHeld;
    if (this.state === 'answersLost') throw new TransportError('reset', 'no way back');
    return response;
  };
}

function answer(status: number, body: unknown): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
}
