import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { documentResponse, publishDocument } from '../discovery/published-document.ts';

/**
 * `/openapi/v2`: a document that describes nothing. kubectl asks for it, in protobuf only, before it takes a file that holds a
 * `v1` List, and gives up when there is none; from an empty one it learns that it has nothing to check, and the server checks
 * each object of the list (API-230). Everything that is described stands in v3 (API-413). What an older kubectl wants of v2 is
 * not there (API-418).
 */
const TITLE = 'Kubernetes';
const VERSION = 'v';

const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Fields of gnostic's `openapi.v2.Document` and `Info`: number and wire type 2, one byte each. */
const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);

const protobuf = Buffer.concat([
  field(1, Buffer.from('2.0')),
  field(2, Buffer.concat([field(1, Buffer.from(TITLE)), field(2, Buffer.from(VERSION))])),
  field(8, Buffer.alloc(0)),
]);

export function openApiV2Response(request: HttpRequest): HttpResponse {
  const accept = request.headers['accept'];
  const wantsProtobuf = String(accept ?? '').includes('+protobuf');
  const json = publishDocument({ swagger: '2.0', info: { title: TITLE, version: VERSION }, paths: {} });
  if (!wantsProtobuf) return documentResponse(json, request, { contentType: 'application/json' });
  return documentResponse({ ...json, bytes: protobuf }, request, { contentType: PROTOBUF_TYPE });
}
