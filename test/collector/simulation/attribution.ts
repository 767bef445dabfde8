import type { HttpHandler, HttpRequest } from '../../../src/base/http-message.ts';

export type Actor = 'collector' | 'client';

interface UnderWay {
  collector: number;
  client: number;
}

/**
 * Finds the author of a change: the client whose request about this key, or about a collection that has it, the server is working on at
 * that moment. Stands directly before the server, so that a request whose sender has given up still counts.
 */
export class Attribution {
  readonly #byKey = new Map<string, UnderWay>();

  /** The server as this actor reaches it. */
  handler(actor: Actor, server: HttpHandler): HttpHandler {
    return async (request) => {
      if (request.method === 'GET' || request.method === 'POST') return server(request);
      const key = storageKey(request);
      const entry = this.#byKey.get(key) ?? { collector: 0, client: 0 };
      this.#byKey.set(key, entry);
      entry[actor]++;
      try {
        return await server(request);
      } finally {
        entry[actor]--;
        if (entry.collector + entry.client === 0) this.#byKey.delete(key);
      }
    };
  }

  /** `server`: no client asked for it. `both`: collector and client asked for it at the same time. */
  of(key: string): Actor | 'both' | 'server' {
    const own = this.#byKey.get(key);
    const collection = this.#byKey.get(key.slice(0, key.lastIndexOf('/')));
    const client = (own?.client ?? 0) + (collection?.client ?? 0) > 0;
    if ((own?.collector ?? 0) > 0) return client ? 'both' : 'collector';
    return client ? 'client' : 'server';
  }
}

/** `/apis/g/v1/namespaces/ns/rs/n` → `/registry/g/rs/ns/n`; a collection without the name. */
function storageKey({ target }: Pick<HttpRequest, 'target'>): string {
  const mark = target.indexOf('?');
  const parts = (mark < 0 ? target : target.slice(0, mark)).split('/').slice(1);
  const group = parts[0] === 'api' ? 'core' : (parts[1] ?? '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = '', ...names] =
    rest[0] === 'namespaces' && rest.length > 2 ? [rest[2], rest[1], ...rest.slice(3)] : rest;
  return ['/registry', group, resource, ...names].join('/');
}
