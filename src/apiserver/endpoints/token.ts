import { newServiceUnavailable } from '../../api/status-error.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import type { ResourceScope } from './resource-scope.ts';

/** Tokens of service accounts need a signing key, which this server does not have yet: said, instead of a made-up token. */
export async function handleToken({ resource, namespace, name }: ResourceScope): Promise<HttpResponse> {
  await resource.get(namespace, name);
  throw newServiceUnavailable('service account tokens are not issued by this server yet');
}
