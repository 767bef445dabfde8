import { stringifyExactJson } from '../../../base/json/exact-json.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Status } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { JSON_TYPE, type MediaType, negotiate, type Representation } from './negotiation.ts';

/**
 * Encodes a tree in a media type. Codecs other than JSON are loaded on first use, so that a server that only uses JSON starts without them.
 */
export async function formatObject(object: KubeObject, representation: Representation): Promise<Uint8Array> {
  switch (representation.mediaType) {
    case 'application/json':
      return formatJson(object, representation.pretty);
    case 'application/yaml': {
      const { stringifyYaml } = await import('../../../api/codec/yaml/yaml.ts');
      return Buffer.from(stringifyYaml(object));
    }
    case 'application/vnd.kubernetes.protobuf': {
      const { encodeProtobuf } = await import('../../../api/codec/protobuf/protobuf.ts');
      return encodeProtobuf(object);
    }
  }
}

export function formatJson(value: unknown, pretty: boolean): Uint8Array {
  return Buffer.from(pretty ? `${stringifyExactJson(value, 2)}\n` : stringifyExactJson(value));
}

export function answer(status: number, mediaType: MediaType, body: HttpResponse['body']): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body };
}

/** A Status is never transformed, only encoded in the negotiated media type (API-027). */
export async function statusResponse(
  status: Status,
  { mediaType, pretty }: Pick<Representation, 'mediaType' | 'pretty'>,
  code = status.code ?? 200,
): Promise<HttpResponse> {
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  const body =
    mediaType === JSON_TYPE
      ? formatJson(status, pretty)
      : await formatObject(status as unknown as KubeObject, { mediaType, pretty });
  return {
    status: code,
    headers: {
      'content-type': mediaType,
      ...(retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {}),
    },
    body,
  };
}

/**
 * The format of an error, also of one before negotiation: the first accepted media type for an untransformed object, otherwise JSON
 * (API-027).
 */
export function errorFormat(accept: string | undefined, pretty: boolean): Pick<Representation, 'mediaType' | 'pretty'> {
  const negotiation = negotiate(accept, { shape: 'object', custom: false, hasMetadata: false }, pretty);
  return negotiation.outcome === 'accepted' ? negotiation.representation : { mediaType: JSON_TYPE, pretty };
}
