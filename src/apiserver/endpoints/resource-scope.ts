import type { ResourceInfo, SubresourceInfo } from '../../api/kinds/resource-info.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { WriteContext } from '../registry/strategy.ts';
import type { Representation } from './negotiation.ts';
import type { RequestContext } from './request-context.ts';
import { fieldManager } from './field-manager.ts';
import type { ResourceRequestInfo } from './request-info.ts';

/** A request that has found its resource and its representation: what the verbs work on. */
export interface ResourceScope {
  readonly context: RequestContext;
  readonly request: ResourceRequestInfo;
  readonly resource: ResourceStore;
  readonly info: ResourceInfo;
  /** Absent for the object itself. */
  readonly subresource: SubresourceInfo | undefined;
  /** Empty for cluster-scoped kinds and for all namespaces. */
  readonly namespace: string;
  readonly name: string;
  readonly representation: Representation;
}

export function writeContext({ context }: ResourceScope, dryRun: boolean): WriteContext {
  const manager = fieldManager(context.query.get('fieldManager'), context.header('user-agent'));
  return {
    user: context.user,
    warn: context.warn,
    expired: context.expired,
    dryRun,
    tracking: { by: 'update', manager },
  };
}
