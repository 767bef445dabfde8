import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';

/** An object reduced to its metadata (API-024). */
export function partialObjectMetadata(object: ServedObject, version: 'v1' | 'v1beta1'): KubeObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata(),
  };
}
