import { newNotAcceptable } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';
import { answer, formatObject } from '../negotiation/body-format.ts';
import { JSON_TYPE, PROTOBUF_TYPE, transformMismatch } from '../negotiation/negotiation.ts';
import { partialObjectMetadata } from './partial-metadata.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { withoutManagers } from './without-managers.ts';
import { tableFor } from './table-answer.ts';

/** One object in the negotiated representation; stored bytes are sent unchanged (API-020..026). */
export async function writeObject(scope: ResourceScope, status: number, written: ServedObject): Promise<HttpResponse> {
  const { representation } = scope;
  const { mediaType, transform, pretty } = representation;
  // Metadata also requires that the object can be converted to the requested version (API-464).
  await scope.resource.shown([written]);
  const object = representation.dropsManagers === true ? withoutManagers(written) : written;
  if (transform === undefined) {
    const asStored = mediaType === JSON_TYPE && !pretty;
    const body = asStored ? object.json() : await formatObject(object.object(), representation);
    return answer(status, mediaType, body);
  }
  refuseMismatch(scope, 'object');
  if (transform.kind === 'Table') {
    const table = await tableFor(scope, [object]);
    return answer(status, mediaType, await formatObject(table, representation));
  }
  if (mediaType === PROTOBUF_TYPE && transform.version === 'v1') {
    return answer(status, mediaType, object.metadataEnvelope());
  }
  return answer(
    status,
    mediaType,
    await formatObject(partialObjectMetadata(object, transform.version), representation),
  );
}

/** Throws if the requested representation does not fit the shape of the answer (API-025). */
export function refuseMismatch({ info, representation }: ResourceScope, shape: 'object' | 'list' | 'watch'): void {
  const goType = `*${info.version}.${shape === 'list' ? info.listKind : info.kind}`;
  const custom = info.typeName === undefined;
  const message = transformMismatch(representation, { shape, custom, hasMetadata: true }, goType);
  if (message !== undefined) throw newNotAcceptable(message);
}
