import type { ResourceInfo, SubresourceInfo } from '../../../api/kinds/resource-info.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { WriteContext, WriteRequestOptions } from '../../registry/strategy.ts';
import type { Representation } from '../negotiation/negotiation.ts';
import type { RequestContext } from './request-context.ts';
import { fieldManager } from './field-manager.ts';
import type { ResourceRequestInfo } from './request-info.ts';

/** A request whose resource and representation are known. The verbs work on it. */
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

/** The options as given, because parsing has validated them. */
function requestOptions(query: URLSearchParams): WriteRequestOptions {
  if (query.size === 0) return noOptions;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  return {
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  };
}

const noOptions: WriteRequestOptions = {};

/** The scope of a DELETE, which has no field manager. */
export function deletionContext({ context }: ResourceScope, dryRun: boolean): WriteContext {
  const { user, warn, annotate, expired, deadline } = context;
  return { user, warn, annotate, expired, deadline, dryRun };
}

export function writeContext({ context }: ResourceScope, dryRun: boolean): WriteContext {
  const { user, warn, annotate, expired, deadline } = context;
  const manager = fieldManager(context.query.get('fieldManager'), context.header('user-agent'));
  return {
    user,
    warn,
    annotate,
    expired,
    deadline,
    bodyBytes: context.request.body?.length,
    dryRun,
    options: requestOptions(context.query),
    authorizeCreate: () => context.requireVerb('create'),
    tracking: { by: 'update', manager },
  };
}
