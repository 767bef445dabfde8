import type { MetadataColumns } from '../../api/codec/metadata/metadata-columns.ts';

/**
 * An object's metadata as a `MetadataReader` finds it in wire bytes. The columns are read during `apply` only; whoever
 * filled them may fill them again at once.
 */
export type ObjectColumns = Readonly<MetadataColumns>;
