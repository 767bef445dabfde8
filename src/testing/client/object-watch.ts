import { parseExactJson } from '../../base/json/exact-json.ts';
import type { ApiObject } from '../../api/meta/api-object.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { StatusError } from '../../api/status-error.ts';
import type { RestStream } from '../../client/rest/rest-client.ts';
import { statusErrorOf } from '../../client/codec/status-decoder.ts';
import { watchDecoder } from '../../client/codec/watch-decoder.ts';

/** One change of a watch. A `BOOKMARK` has only the watch's resourceVersion. */
export interface WatchEvent<T = KubeObject> {
  /** The change of the object. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** The object after the change; for a deletion its last state. */
  readonly object: T;
}

/**
 * The events of a stream. Ends with the stream. Throws the StatusError with which the server ends a watch, such as a 410 for an expired
 * version.
 */
export async function* watchEvents<T extends ApiObject>({ headers, body }: RestStream): AsyncGenerator<WatchEvent<T>> {
  const events: (WatchEvent<T> | StatusError)[] = [];
  const decoder = watchDecoder(String(headers['content-type'] ?? ''), (type, { bytes, start, end }) => {
    const json = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
    if (type === 'ERROR') events.push(statusErrorOf(500, {}, json));
    else events.push({ type, object: parseExactJson(json.toString('utf8')) as T });
  });
  for await (const chunk of body) {
    decoder.push(chunk);
    for (const event of events.splice(0)) {
      if (event instanceof StatusError) throw event;
      yield event;
    }
  }
}
