/**
 * The Accept header for one object and for watches: metadata only, protobuf before JSON, full JSON from servers that ignore `as=`
 * (COL-040).
 */
export const ACCEPT_METADATA =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,' +
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** The same for lists (COL-040). */
export const ACCEPT_METADATA_LIST =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,' +
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** The same for a server that refused protobuf, and for answers to single requests. */
export const ACCEPT_METADATA_JSON = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

export const ACCEPT_METADATA_LIST_JSON =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
