import { newBadRequest, newServiceUnavailable } from '../../api/status-error.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { ResourceScope } from './resource-scope.ts';

interface PodSpec {
  readonly spec?: { readonly nodeName?: string };
}

/** log, exec, attach, portforward, proxy: nothing here runs containers or reaches nodes (API-320). Never a hang. */
export async function handleConnect(scope: ResourceScope): Promise<HttpResponse> {
  const { resource, namespace, name, subresource, info } = scope;
  const object = (await resource.get(namespace, name)).object();
  const what = subresource?.name ?? '';
  const { nodeName } = (object as PodSpec).spec ?? {};
  if (info.resource === 'pods' && (nodeName === undefined || nodeName === '')) {
    if (what === 'log') return { status: 204, headers: {}, body: new Uint8Array(0) };
    if (what !== 'proxy') throw newBadRequest(`pod ${name} does not have a host assigned`);
  }
  throw newServiceUnavailable(`${info.resource}/${what} is not available: this cluster has no kubelet to connect to`);
}
