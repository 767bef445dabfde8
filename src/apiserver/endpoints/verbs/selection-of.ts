import { parseShardSelector } from '../../../api/selectors/shard-selector.ts';
import { Selection } from '../../registry/selection.ts';
import type { ListOptions } from '../request/list-options.ts';
import type { ResourceScope } from '../request/resource-scope.ts';

/** The selection of a list, watch or deletion of a collection. Ignores shards while their feature is off (API-104). */
export function selectionOf({ resource, namespace }: ResourceScope, options: ListOptions): Selection {
  const sharded = options.shardSelector !== '' && resource.environment.features.shards;
  const shards = sharded ? parseShardSelector(options.shardSelector) : undefined;
  return new Selection(resource, namespace, { ...options, shards });
}
