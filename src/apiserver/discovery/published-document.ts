import { stringifyExactJson } from '../../base/json/exact-json.ts';
import { createHash } from 'node:crypto';
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../base/http-message.ts';

/** A document that many clients read and that rarely changes. It is encoded once and sent as bytes. */
export interface PublishedDocument {
  readonly bytes: Uint8Array;
  /** Upper-case hex SHA-512 of the bytes, as in kube-apiserver. */
  readonly hash: string;
}

export function publishDocument(value: unknown): PublishedDocument {
  const bytes = Buffer.from(`${stringifyExactJson(value)}\n`);
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

export interface DocumentHeaders {
  readonly contentType: string;
  readonly cacheControl?: string;
  readonly expires?: string;
}

/** 200 with the bytes, or 304 if the client already has the document (API-396, API-411). */
export function documentResponse(
  document: PublishedDocument,
  request: HttpRequest,
  { contentType, cacheControl, expires }: DocumentHeaders,
): HttpResponse {
  const etag = `"${document.hash}"`;
  const headers: HttpHeaders = {
    vary: 'Accept',
    etag,
    ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
    ...(expires === undefined ? {} : { expires }),
  };
  if (isKnownToClient(request, etag)) return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers: { ...headers, 'content-type': contentType }, body: document.bytes };
}

function isKnownToClient(request: HttpRequest, etag: string): boolean {
  const header = request.headers['if-none-match'];
  const values = typeof header === 'string' ? [header] : (header ?? []);
  return values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim().replace(/^W\//, ''))
    .some((value) => value === '*' || value === etag);
}
