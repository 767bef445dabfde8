import type { MetadataColumns } from '../../api/codec/metadata-columns.ts';

/**
 * What the graph reads of an object's metadata columns, which a `MetadataReader` fills from wire bytes. They are read
 * during `apply` only; whoever filled them may fill them again at once.
 */
export type ObjectColumns = Readonly<
  Pick<
    MetadataColumns,
    | 'bytes'
    | 'uid0'
    | 'uid1'
    | 'uid2'
    | 'uid3'
    | 'uidIsText'
    | 'uidStart'
    | 'uidEnd'
    | 'nameStart'
    | 'nameEnd'
    | 'namespaceStart'
    | 'namespaceEnd'
    | 'resourceVersion'
    | 'deleting'
    | 'foregroundFinalizer'
    | 'orphanFinalizer'
    | 'otherFinalizers'
    | 'ownerCount'
    | 'owners'
  >
>;
