import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import type { ControllerSighting } from '../finalizers/finalizer-evidence.ts';
import type { OwnershipIndex } from '../observed/ownership-index.ts';

/** The server's answer to a dry run of a write. */
export interface RefusedWrite {
  readonly code: number;
  readonly message: string;
}

/** All facts that an explanation uses. Missing facts are reported as unknown. */
export interface ExplainEvidence {
  readonly index: OwnershipIndex;
  /** The explained object; its uid is empty if it is gone. */
  readonly subject: ObjectReference;
  /** Full objects by uid: the subject, and those that it waits for. */
  readonly bodies: ReadonlyMap<string, KubeObject>;
  /** Objects whose update the server refuses, by uid. */
  readonly refusedWrites: ReadonlyMap<string, RefusedWrite>;
  /** Pods of the subject's namespace; absent if they were not needed or could not be read. */
  readonly pods?: readonly KubeObject[];
  /** Nodes that pods name. Undefined means that the node does not exist; a missing entry means that it was not read. */
  readonly nodes: ReadonlyMap<string, KubeObject | undefined>;
  /** Custom resources that could not be listed and that a webhook converts, as `<resource>.<group>`. */
  readonly convertedByWebhook: ReadonlySet<string>;
  readonly sightings: readonly ControllerSighting[];
}
