import type { Logger } from '../../base/logs/logger.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { kubeletImageCollection } from '../../nodegc/daemon/kubelet-collection.ts';

const TIMEOUT_MS = 10_000;
const ADVICE =
  'set imageGCHighThresholdPercent: 100 and imageMaximumGCAge: 0s for the kubelet, so that only one of the two collects images';

/** Warns when the kubelet collects images as well. If its settings are unknown, the warning says what they should be (NODE-141). */
export async function warnOfKubelet(
  cluster: { readonly client: RestClient; readonly nodeName: string } | undefined,
  logger: Logger,
): Promise<void> {
  const configz = await cluster?.client
    .request({ method: 'GET', path: `/api/v1/nodes/${cluster.nodeName}/proxy/configz`, timeoutMs: TIMEOUT_MS })
    .then(({ body }) => JSON.parse(new TextDecoder().decode(body)) as unknown)
    // A refusal and an answer that is not JSON show no settings.
    .catch(() => undefined);
  if (configz === undefined) return logger.info(ADVICE);
  const settings = kubeletImageCollection(configz);
  if (settings.length > 0)
    logger.warn(`the kubelet collects images as well: ${ADVICE}`, { kubelet: settings.join(', ') });
}
