import type { Interceptor } from '../../client/rest/interceptor.ts';

/** Values of `--kube-api-content-type` (COL-200). */
export type KubeApiContentType = 'application/vnd.kubernetes.protobuf' | 'application/json';

const PROTOBUF: KubeApiContentType = 'application/vnd.kubernetes.protobuf';

/**
 * Asks for nothing in protobuf: whatever the client accepts besides stays as it is. The client reads what comes by the type that the
 * answer names, so that nothing else has to know.
 */
export const jsonOnly: Interceptor = (request, next) => {
  const { method, target, headers, body, signal, refusal, greeting } = request;
  const accept = headers['accept'];
  if (typeof accept !== 'string' || !accept.includes(PROTOBUF)) return next(request);
  const types = accept.split(',').filter((type) => !type.startsWith(PROTOBUF));
  return next({ method, target, headers: { ...headers, accept: types.join(',') }, body, signal, refusal, greeting });
};
