import type { EventType, ObjectReference } from '../../client/events/event-correlator.ts';
import type { InvalidNamespaceReport } from '../graph/effect.ts';
import type { EventReason } from '../types/reasons.ts';

/** The Event of a reference across namespaces, field by field as Kubernetes writes it (COL-144). */
export function invalidNamespaceEvent({ dependent, ownerReference, reason }: InvalidNamespaceReport): {
  readonly involvedObject: ObjectReference;
  readonly event: { readonly type: EventType; readonly reason: EventReason; readonly message: string };
} {
  const { apiVersion, kind, namespace, name, uid } = dependent;
  const owner = `${ownerReference.apiVersion}/${ownerReference.kind}, namespace: ${namespace}, name: ${ownerReference.name}, uid: ${ownerReference.uid}`;
  return {
    involvedObject: { apiVersion, kind, namespace, name, uid },
    event: {
      type: 'Warning',
      reason,
      message: `ownerRef [${owner}] does not exist in namespace "${namespace}"`,
    },
  };
}
