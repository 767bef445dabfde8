import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ReflectorSink } from '../../client/reflector/reflector-sink.ts';

/** The beginning of both annotations. */
const MARK = Buffer.from('kubegc.io/ttl');

type Handler = (object: KubeObject) => void;

/**
 * Calls `present` with each object that has a TTL when it is listed or changes, and `deleted` with its last state. It keeps no objects, and
 * parses only those whose bytes name the annotation, because most objects of a cluster have none.
 */
export function annotatedObjects(handlers: { readonly present: Handler; readonly deleted: Handler }): ReflectorSink {
  const parsed =
    (handler: Handler) =>
    (bytes: Uint8Array, start: number, end: number): void => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
      if (text.includes(MARK)) handler(JSON.parse(text.toString('utf8')) as KubeObject);
    };
  const present = parsed(handlers.present);
  const nothing = (): void => undefined;
  return {
    added: present,
    modified: present,
    deleted: parsed(handlers.deleted),
    replaceBegin: nothing,
    replaceEnd: nothing,
    replaceAbort: nothing,
    bookmark: nothing,
    synced: nothing,
    failed: nothing,
  };
}
