import { systemClock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { systemRandom } from '../../base/random/random.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { NodeEvent } from '../../nodegc/images/image-cycle.ts';

/** Writes Warning Events for the Node. */
export interface NodeEventRecorder {
  readonly emit: (event: NodeEvent) => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Events for the Node, with its real uid if the API server returns it (NODE-130). */
export async function recordEvents(
  { client, nodeName }: { readonly client: RestClient; readonly nodeName: string },
  logger: Logger,
): Promise<NodeEventRecorder> {
  const events = new EventRecorder({
    client,
    clock: systemClock,
    random: systemRandom,
    logger,
    component: 'kubegc-node',
  });
  const node = { gvr: { group: '', version: 'v1', resource: 'nodes' }, name: nodeName };
  const uid = await client.get(node, { timeoutMs: 10_000 }).then(
    (object) => (object as { metadata?: { uid?: string } }).metadata?.uid,
    () => undefined,
  );
  const involved = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: uid ?? nodeName };
  return {
    emit: ({ reason, message }) => events.event(involved, { type: 'Warning', reason, message }),
    run: (signal) => events.run(signal),
  };
}
