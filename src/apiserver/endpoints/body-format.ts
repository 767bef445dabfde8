import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Status } from '../../api/status-error.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { JSON_TYPE, type MediaType, PROTOBUF_TYPE, type Representation } from './negotiation.ts';

/**
 * Writes a whole tree in a media type. Codecs other than JSON are loaded when first asked for, so that a server that speaks
 * JSON only starts without them.
 */
export async function formatObject(object: KubeObject, representation: Representation): Promise<Uint8Array> {
  switch (representation.mediaType) {
    case 'application/json':
      return formatJson(object, representation.pretty);
    case 'application/yaml': {
      const { stringifyYaml } = await import('../../api/codec/yaml.ts');
      return Buffer.from(stringifyYaml(object));
    }
    case 'application/vnd.kubernetes.protobuf': {
      const { encodeProtobuf } = await import('../../api/codec/protobuf.ts');
      return encodeProtobuf(object);
    }
  }
}

export function formatJson(value: unknown, pretty: boolean): Uint8Array {
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : JSON.stringify(value));
}

export function answer(status: number, mediaType: MediaType, body: HttpResponse['body']): HttpResponse {
  return { status, headers: { 'content-type': mediaType }, body };
}

/** A Status is never transformed, only written in the negotiated media type (API-027). */
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

/** The media type of an error, also of one that comes before negotiation: JSON unless protobuf or YAML stands first. */
export function errorMediaType(accept: string | undefined): MediaType {
  const first = accept?.split(',', 1)[0]?.split(';', 1)[0]?.trim();
  return first === PROTOBUF_TYPE || first === 'application/yaml' ? first : JSON_TYPE;
}
