import type { Int64 } from '../../../base/json/exact-json.ts';
import { fieldInvalid } from '../../../api/field-error.ts';
import { typeNameOf } from '../../../api/kinds/type-table.ts';
import { formatGroupVersionKind, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { formatTime } from '../../../api/meta/time.ts';
import {
  isNotFound,
  newBadRequest,
  newConflict,
  newInvalid,
  newPathNotFound,
  newServiceUnavailable,
} from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import type { Binding, ObjectClaim } from '../../authentication/service-account-claims.ts';
import type { ServiceAccountTokens } from '../../authentication/service-account-tokens.ts';
import { admitTransient } from '../../registry/admission-attributes.ts';
import { objectSchema, type ObjectSchema } from '../../registry/object/object-schema.ts';
import { TransientObject } from '../../registry/object/served-object.ts';
import { decodeObject } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseWriteOptions } from '../request/write-options.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

interface BoundObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenRequest extends KubeObject {
  spec?: { audiences?: string[]; expirationSeconds?: Int64; boundObjectRef?: BoundObjectReference | null };
}

interface Pod extends KubeObject {
  spec?: { serviceAccountName?: string; nodeName?: string };
}

/** `POST serviceaccounts/<n>/token` (API-377). Without an issuer, it is a 503 instead of an invented token. */
export function tokenEndpoint(
  tokens: ServiceAccountTokens | undefined,
): (scope: ResourceScope) => Promise<HttpResponse> {
  return async (scope) => {
    if (tokens !== undefined) return issue(scope, tokens);
    await scope.resource.get(scope.namespace, scope.name);
    throw newServiceUnavailable('this server has no key to sign service account tokens with');
  };
}

async function issue(scope: ResourceScope, tokens: ServiceAccountTokens): Promise<HttpResponse> {
  const { context, resource, namespace, name } = scope;
  const options = parseWriteOptions(context.query, 'CreateOptions');
  const request: TokenRequest = await decodeObject(
    context,
    tokenRequestSchema(),
    options.fieldValidation,
    resource.environment.clock,
  );
  const given = request.metadata ?? {};
  requireSame(given, 'name', { wanted: name, account: name });
  requireSame(given, 'namespace', { wanted: namespace, account: name });
  const { uid = '' } = (await resource.get(namespace, name)).metadata();
  if ((given.uid ?? '') !== '' && given.uid !== uid) {
    const why = `the UID in the token request (${given.uid ?? ''}) does not match the UID of the service account (${uid})`;
    throw newConflict({ group: KIND.group, resource: KIND.kind }, name, why);
  }
  const { spec = {} } = request;
  const audiences = (spec.audiences?.length ?? 0) === 0 ? tokens.audiences : (spec.audiences ?? []);
  const expirationSeconds = spec.expirationSeconds ?? DEFAULT_SECONDS;
  const now = resource.environment.clock.now();
  request.metadata = { ...given, name, namespace, uid, creationTimestamp: formatTime(now) };
  request.spec = { ...spec, audiences: [...audiences], expirationSeconds };
  validateExpiration(expirationSeconds);
  await admitTransient(resource, {
    operation: 'CREATE',
    kind: KIND,
    subresource: 'token',
    namespace,
    name,
    object: request,
    context: writeContext(scope, options.dryRun),
  });
  const binding = await bindingOf(scope, request.spec.boundObjectRef ?? undefined);
  const token = tokens.issue({
    namespace,
    account: { name, uid },
    binding,
    audiences,
    expirationSeconds: Number(expirationSeconds),
  });
  const status = { token, expirationTimestamp: formatTime(now + Number(expirationSeconds) * 1000) };
  const { kind, apiVersion, metadata, spec: asked } = request;
  return writeObject(
    scope,
    201,
    new TransientObject({ kind, apiVersion, metadata, spec: asked, status } as KubeObject),
  );
}

function tokenRequestSchema(): ObjectSchema {
  const typeName = typeNameOf(`${KIND.group}/${KIND.version}`, KIND.kind);
  return objectSchema({ ...KIND, ...(typeName === undefined ? {} : { typeName }) });
}

function requireSame(
  given: ObjectMeta,
  field: 'name' | 'namespace',
  { wanted, account }: { readonly wanted: string; readonly account: string },
): void {
  const value = given[field] ?? '';
  if (value === '' || value === wanted) return;
  const detail = `must match the service account ${field} if specified`;
  throw newInvalid(KIND, account, [fieldInvalid(`metadata.${field}`, value, detail)]);
}

function validateExpiration(seconds: Int64): void {
  const problem =
    seconds < MIN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > MAX_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (problem !== undefined) throw newInvalid(KIND, '', [fieldInvalid('spec.expirationSeconds', seconds, problem)]);
}

/** The object to which the token is bound. */
async function bindingOf(scope: ResourceScope, reference: BoundObjectReference | undefined): Promise<Binding> {
  if (reference === undefined) return {};
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
  const gv = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const found = async (resource: string): Promise<{ object: KubeObject; claim: ObjectClaim }> => {
    const object = (await siblingOf(scope, resource, name)).object();
    const there = object.metadata?.uid ?? '';
    if (uid !== '' && uid !== there) {
      const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw newConflict({ group: gv.group, resource: kind }, name, why);
    }
    return { object, claim: { name, uid: there } };
  };
  if (gv.group === '' && kind === 'Secret') return { secret: (await found('secrets')).claim };
  if (gv.group === '' && kind === 'Node') return { node: (await found('nodes')).claim };
  if (gv.group === '' && kind === 'Pod') {
    const { object, claim } = await found('pods');
    const { serviceAccountName = '', nodeName = '' } = (object as Pod).spec ?? {};
    if (serviceAccountName !== scope.name) {
      const why = `cannot bind token for serviceaccount ${quoted(scope.name)} to pod running with different serviceaccount name.`;
      throw newBadRequest(why);
    }
    return { pod: claim, ...(nodeName === '' ? {} : { node: await nodeClaim(scope, nodeName) }) };
  }
  throw newBadRequest(`cannot bind token to object of type ${formatGroupVersionKind({ ...gv, kind })}`);
}

/** A node that does not exist is included by name only. */
async function nodeClaim(scope: ResourceScope, name: string): Promise<ObjectClaim> {
  try {
    const { uid = '' } = (await siblingOf(scope, 'nodes', name)).metadata();
    return { name, uid };
  } catch (error) {
    if (isNotFound(error)) return { name };
    throw error;
  }
}

async function siblingOf({ resource, namespace }: ResourceScope, plural: string, name: string) {
  const store = resource.siblings.find('', 'v1', plural);
  if (store === undefined) throw newPathNotFound();
  return store.get(plural === 'nodes' ? '' : namespace, name);
}
