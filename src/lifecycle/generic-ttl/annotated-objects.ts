import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ReflectorSink } from '../../client/reflector/reflector-sink.ts';

/** The beginning of both annotations. */
const MARK = Buffer.from('kubegc.io/ttl');

/**
 * Calls `found` with each object that has a TTL when it is listed or changes. It keeps no objects, and parses only those whose bytes name
 * the annotation, because most objects of a cluster have none.
 */
export function annotatedObjects(found: (object: KubeObject) => void): ReflectorSink {
  const seen = (bytes: Uint8Array, start: number, end: number): void => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    if (text.includes(MARK)) found(JSON.parse(text.toString('utf8')) as KubeObject);
  };
  const nothing = (): void => undefined;
  return {
    added: seen,
    modified: seen,
    deleted: nothing,
    replaceBegin: nothing,
    replaceEnd: nothing,
    replaceAbort: nothing,
    bookmark: nothing,
    synced: nothing,
    failed: nothing,
  };
}
