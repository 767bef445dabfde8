import { type FieldError, fieldForbidden } from '../../../api/field-error.ts';
import { apiVersionOf, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import { newInvalid } from '../../../api/status-error.ts';
import { GROUP_MASTERS, type UserInfo } from '../../authentication/user-info.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ResourceLookup } from '../../registry/resource-store.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type {
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts';

export interface ParamAuthorizationOptions {
  readonly authorizer: Authorizer;
  readonly lookup: ResourceLookup;
  /** The parameter kind of a binding's policy; undefined if the policy does not exist yet. */
  paramKindOf(policyName: string): ParamKind | undefined;
}

/**
 * Parameters can appear in messages of a policy, so the writer of a policy or binding needs the right to read them (upstream
 * `registry/admissionregistration/…/authz.go`). Throws a 422. An update with unchanged parameters is not checked.
 */
export function authorizeParams(attributes: AdmissionAttributes, options: ParamAuthorizationOptions): void {
  const { object, oldObject, user, kind, name, operation } = attributes;
  if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
  if (user.groups.includes(GROUP_MASTERS) || sameParams(object, oldObject)) return;
  const errors =
    kind.kind === 'ValidatingAdmissionPolicy' || kind.kind === 'MutatingAdmissionPolicy'
      ? policyErrors(object, user, options)
      : kind.kind === 'ValidatingAdmissionPolicyBinding' || kind.kind === 'MutatingAdmissionPolicyBinding'
        ? bindingErrors(object, user, options)
        : [];
  if (errors.length > 0) throw newInvalid(kind, name, errors);
}

type Written = ValidatingAdmissionPolicy & ValidatingAdmissionPolicyBinding;

function sameParams(next: Written, previous: Written | undefined): boolean {
  const params = ({ spec }: Written): string => JSON.stringify([spec?.paramKind, spec?.paramRef, spec?.policyName]);
  return previous !== undefined && params(next) === params(previous);
}

function policyErrors(
  { spec }: ValidatingAdmissionPolicy,
  user: UserInfo,
  options: ParamAuthorizationOptions,
): FieldError[] {
  const paramKind = spec?.paramKind;
  if (paramKind === undefined || mayRead(options, user, paramKind, { verb: 'get', namespace: '*', name: '*' }))
    return [];
  const { kind = '', apiVersion = '' } = paramKind;
  const text = `user ${user.username} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return [fieldForbidden('spec.paramKind', text)];
}

function bindingErrors(
  { spec }: ValidatingAdmissionPolicyBinding,
  user: UserInfo,
  options: ParamAuthorizationOptions,
): FieldError[] {
  const ref: ParamRef | undefined = spec?.paramRef;
  if (ref === undefined) return [];
  const paramKind = options.paramKindOf(spec?.policyName ?? '') ?? {};
  const namespace = (ref.namespace ?? '') === '' ? '*' : (ref.namespace ?? '');
  const verb = ref.selector === undefined ? 'get' : 'list';
  const name = (ref.name ?? '') === '' ? '*' : (ref.name ?? '');
  if (mayRead(options, user, paramKind, { verb, namespace, name })) return [];
  const text = `user ${user.username} does not have "${verb}" permission on the object referenced by paramRef`;
  return [fieldForbidden('spec.paramRef', text)];
}

interface Reading {
  readonly verb: 'get' | 'list';
  readonly namespace: string;
  readonly name: string;
}

/** If the kind is unknown, the user must be able to read everything. */
function mayRead(
  { authorizer, lookup }: ParamAuthorizationOptions,
  user: UserInfo,
  { apiVersion = '', kind = '' }: ParamKind,
  reading: Reading,
): boolean {
  const gv = apiVersion === '' ? undefined : parseGroupVersion(apiVersion);
  const info = lookup.resources().find((row) => row.kind === kind && apiVersionOf(row) === apiVersion);
  const { allowed } = authorizer.authorize({
    user,
    isResource: true,
    path: '',
    group: gv?.group ?? '*',
    version: gv?.version ?? '*',
    resource: info?.resource ?? '*',
    subresource: '',
    ...reading,
  });
  return allowed;
}
