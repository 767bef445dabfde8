import type { HttpResponse } from '../../../base/http-message.ts';

export function plainText(status: number, text: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
    body: Buffer.from(text),
  };
}

/** API-004: outside of every served group. */
export function pageNotFound(): HttpResponse {
  return plainText(404, '404 page not found\n');
}
