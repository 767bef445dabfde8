import type { RecordFlags } from '../cascade/record-options.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';

/** The command line of `kubegc mcp`. */
export interface McpFlags extends ClusterFlags, RecordFlags {
  readonly readOnly?: boolean;
  readonly pvcProtectionIgnoreFinishedPods?: boolean;
}
