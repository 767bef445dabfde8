import type { HttpResponse } from '../../../base/http-message.ts';

export function plainText(status: number, text: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
    body: Buffer.from(text),
  };
}

/** The 404 of a path outside of all served groups (API-004). */
export function pageNotFound(): HttpResponse {
  return plainText(404, '404 page not found\n');
}
