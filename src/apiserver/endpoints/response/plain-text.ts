import { newPathNotFound } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import type { Features } from '../../emulation/features.ts';

export function plainText(status: number, text: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', ...headers },
    body: Buffer.from(text),
  };
}

/** The 404 of a path outside of all served groups (API-004): a text, or a thrown Status by the emulated version (API-607). */
export function pageNotFound({ jsonNotFound }: Pick<Features, 'jsonNotFound'>): HttpResponse {
  if (jsonNotFound) throw newPathNotFound();
  return plainText(404, '404 page not found\n');
}
