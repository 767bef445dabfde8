import { apiVersionOf, formatGroupVersionKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';
import { listObjects } from '../../registry/list-objects.ts';
import type { ResourceLookup, ResourceStore } from '../../registry/resource-store.ts';
import { Selection } from '../../registry/selection.ts';
import type { ParamKind, ParamRef } from './validating-policy.ts';

/** A policy or binding that cannot be applied. Its failure policy decides about the request. */
export class PolicyConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PolicyConfigurationError';
  }
}

/** Maximum number of parameters that one selector may match, because a policy is evaluated once for each. More are an error. */
const MAX_PARAMS = 1_000;

/** The resource of a policy's parameters. Throws a {@link PolicyConfigurationError} if it is not served. */
export function paramResource(lookup: ResourceLookup, { apiVersion = '', kind = '' }: ParamKind): ResourceStore {
  const info = lookup.resources().find((row) => row.kind === kind && apiVersionOf(row) === apiVersion);
  const found = info === undefined ? undefined : lookup.find(info.group, info.version, info.resource);
  if (found !== undefined) return found;
  const gv = parseGroupVersion(apiVersion) ?? { group: '', version: apiVersion };
  throw new PolicyConfigurationError(
    `failed to find resource referenced by paramKind: '${formatGroupVersionKind({ ...gv, kind })}'`,
  );
}

export interface ParamQuery {
  /** Undefined if the policy has no parameters. */
  readonly resource: ResourceStore | undefined;
  readonly ref: ParamRef | undefined;
  /** The namespace of the request. */
  readonly namespace: string;
}

/**
 * The parameters of a policy, or null if it has none (`policy/generic.CollectParams`). The policy is evaluated once for each. They are read
 * from the store, so a parameter takes effect with the next request.
 */
export async function collectParams({ resource, ref, namespace }: ParamQuery): Promise<readonly (KubeObject | null)[]> {
  if (resource === undefined || ref === undefined) return [null];
  const within = paramNamespace(resource, ref, namespace);
  const params = await readParams(resource, ref, within);
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new PolicyConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return params;
}

function paramNamespace({ info }: ResourceStore, ref: ParamRef, namespace: string): string {
  const named = ref.namespace ?? '';
  if (!info.namespaced) {
    if (named === '') return '';
    throw new PolicyConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  if (named !== '') return named;
  if (namespace !== '') return namespace;
  const why = 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources';
  throw new PolicyConfigurationError(why);
}

async function readParams(resource: ResourceStore, ref: ParamRef, namespace: string): Promise<KubeObject[]> {
  const { name = '', selector } = ref;
  if (name !== '') {
    const found = await resource.find(namespace, name);
    return found === undefined ? [] : [found.object()];
  }
  const labelSelector = selector === undefined ? '' : labelSelectorFromObject(selector).toString();
  const page = await listObjects(resource, {
    selection: new Selection(resource, namespace, { labelSelector, fieldSelector: '' }),
    limit: MAX_PARAMS,
    continueToken: '',
    revision: 0,
    match: '',
  });
  if (page.continueToken !== undefined) {
    throw new PolicyConfigurationError(`more than ${MAX_PARAMS} params selected by policy binding`);
  }
  return Array.from(await resource.shown(page.items), (item) => item.object());
}
