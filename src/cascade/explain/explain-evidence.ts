import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import type { ControllerSighting } from '../finalizers/finalizer-evidence.ts';
import type { OwnershipIndex } from '../observed/ownership-index.ts';

/** The server's answer to a dry run of a write. */
export interface RefusedWrite {
  readonly code: number;
  readonly message: string;
}

/** Everything that an explanation uses. Facts that are missing here are reported as unknown. */
export interface ExplainEvidence {
  readonly index: OwnershipIndex;
  /** The object asked about; its uid is empty when it is gone. */
  readonly subject: ObjectReference;
  /** Full objects by uid: the subject, and those that it waits for. */
  readonly bodies: ReadonlyMap<string, KubeObject>;
  /** By uid: objects whose update the server refuses. */
  readonly refusedWrites: ReadonlyMap<string, RefusedWrite>;
  /** Pods of the subject's namespace; absent when they were not needed or could not be read. */
  readonly pods?: readonly KubeObject[];
  /** Nodes that pods name; undefined: the node does not exist. Absent from the map: not read. */
  readonly nodes: ReadonlyMap<string, KubeObject | undefined>;
  /** Custom resources that could not be listed and whose definition converts by a webhook, as `<resource>.<group>`. */
  readonly convertedByWebhook: ReadonlySet<string>;
  readonly sightings: readonly ControllerSighting[];
}
