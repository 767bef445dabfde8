import type { Interceptor } from '../../client/rest/interceptor.ts';

/** Values of `--kube-api-content-type` (COL-200). */
export type KubeApiContentType = 'application/vnd.kubernetes.protobuf' | 'application/json';

const PROTOBUF: KubeApiContentType = 'application/vnd.kubernetes.protobuf';

/**
 * Requests nothing in protobuf; other accepted types stay. The client decodes by the content type of the answer, so no other code depends
 * on it.
 */
export const jsonOnly: Interceptor = (request, next) => {
  const { method, target, headers, body, signal, refusal, greeting } = request;
  const accept = headers['accept'];
  if (typeof accept !== 'string' || !accept.includes(PROTOBUF)) return next(request);
  const types = accept.split(',').filter((type) => !type.startsWith(PROTOBUF));
  return next({ method, target, headers: { ...headers, accept: types.join(',') }, body, signal, refusal, greeting });
};
