import type { SubresourceInfo } from '../../../api/kinds/resource-info.ts';
import { newBadRequest, newServiceUnavailable } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { admitTransient } from '../../registry/admission-attributes.ts';
import { connectOptions } from '../request/connect-options.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';

interface PodSpec {
  readonly spec?: { readonly nodeName?: string };
}

async function admitConnection(scope: ResourceScope, { name: subresource, kind }: SubresourceInfo): Promise<void> {
  const { context, request, resource, namespace, name } = scope;
  const object = connectOptions(kind, context.query, request.rest.join('/'));
  const write = { operation: 'CONNECT', kind, subresource, namespace, name, object } as const;
  await admitTransient(resource, { ...write, context: writeContext(scope, false) });
}

/** Refuses log, exec, attach, portforward and proxy, because the server runs no containers and reaches no nodes (API-320). Never hangs. */
export async function handleConnect(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, namespace, name, subresource, info } = scope;
  // Reading a log is a GET, which does not pass admission.
  if (subresource !== undefined && subresource.name !== 'log') await admitConnection(scope, subresource);
  const object = (await resource.get(namespace, name)).object();
  const what = subresource?.name ?? '';
  const { nodeName } = (object as PodSpec).spec ?? {};
  if (info.resource === 'pods' && (nodeName === undefined || nodeName === '')) {
    if (what === 'log') return { status: 204, headers: {}, body: new Uint8Array(0) };
    if (what !== 'proxy') throw newBadRequest(`pod ${name} does not have a host assigned`);
  }
  throw newServiceUnavailable(`${info.resource}/${what} is not available: this cluster has no kubelet to connect to`);
}
