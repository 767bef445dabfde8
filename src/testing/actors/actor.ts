import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { HttpHandler, HttpRequest } from '../../base/http-message.ts';
import type { Activity } from '../activity/activity.ts';
import { controllerNames } from './controllers.ts';
import { turn } from '../activity/quiet.ts';
import { parseWarnings } from '../../client/rest/warning-header.ts';
import type { Recorder } from '../trace/recorder.ts';
import { ignoresStatus } from './ignored-status.ts';
import { type RequestedObject, requestedObject } from '../trace/requested-object.ts';

/** The prefix of the user agent of all clients that the cluster creates; the component follows. */
export const USER_AGENT = 'kubegc-testing';

const STATUS_IGNORED =
  "the status in the body was ignored; write it by updateStatus, patchStatus or apply with subresource: 'status'";

const controllers: ReadonlySet<string> = new Set(controllerNames);

/** The sender of a request, by its user agent. */
export function actorOf({ headers }: Pick<HttpRequest, 'headers'>): string {
  const header = headers['user-agent'];
  const agent = typeof header === 'string' ? header : (header?.[0] ?? '');
  if (agent === USER_AGENT) return 'test';
  // The name of a client may contain spaces and slashes.
  if (agent.startsWith(`${USER_AGENT}/`)) return agent.slice(USER_AGENT.length + 1);
  const product = /^[^ /]*/.exec(agent)?.[0] ?? '';
  return product === '' ? 'unknown' : product;
}

/** Wraps the API server's handler to observe writers, refusals, and work in progress. */
export function observedHandler(
  handler: HttpHandler,
  seen: { recorder: Recorder; activity: Activity; served: () => readonly ResourceInfo[] },
): HttpHandler {
  const { recorder, activity, served } = seen;
  return async (request) => {
    // A watch counts until its answer begins, because a codec may have to be loaded for it.
    if (request.method === 'GET') return activity.during(() => handler(request));
    const who = actorOf(request);
    const response = await activity.during(async () => {
      // Without a turn between their writes, two operators that revert each other would starve the test that watches them.
      await turn();
      return recorder.as(who, () => handler(request));
    });
    if (response.status === 409 && request.method !== 'POST' && controllers.has(who)) activity.noteConflict();
    const about = (): RequestedObject | undefined => requestedObject(request, served);
    for (const { text } of parseWarnings(response.headers['warning'])) {
      recorder.note('warning', who, text, { object: about() });
    }
    if (ignoresStatus(request, response)) recorder.note('warning', who, STATUS_IGNORED, { object: about() });
    if (response.status >= 400) {
      const path = request.target.split('?')[0] ?? '';
      recorder.note('refused', who, `${request.method} ${path}: ${response.status}`, {
        why: messageOf(response.body),
        object: about(),
      });
    }
    return response;
  };
}

function messageOf(body: Uint8Array | AsyncIterable<Uint8Array>): string | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  try {
    const { message } = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()) as {
      message?: unknown;
    };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
