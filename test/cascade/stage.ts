import type { RestClient } from '../../src/client/rest/rest-client.ts';

/** A cluster on which scenes are played. */
export interface Stage {
  readonly client: RestClient;
  /** Resolves when nothing moves any more. */
  rest(): Promise<void>;
  /** Resolves when the collector has noticed kinds that were defined just now. */
  kindsNoticed(): Promise<void>;
  /** uids of removed objects in the order of their removal, since the last call; undefined where nobody knows. */
  removals(): readonly string[] | undefined;
  /** Whether the cluster ends pods, and reclaims volumes, by itself. */
  readonly hasNodes: boolean;
  /** Called for an object that ended as previewed for the other order of two that race. */
  raced?(): void;
  close(): Promise<void>;
}
