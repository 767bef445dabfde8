import { systemClock } from '../base/time/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import { systemRandom } from '../base/random/random.ts';
import { createServingCertificates, type ServingCertificates } from '../apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../apiserver/serving/http-server.ts';
import { renderKubeconfig } from '../client/kubeconfig/render-kubeconfig.ts';

const HOST = '127.0.0.1';

/** Created once for each process and shared by all clusters. Valid in real time, whatever the clusters' clocks show. */
let certificates: Promise<ServingCertificates> | undefined;

export function processCertificates(): Promise<ServingCertificates> {
  return (certificates ??= createServingCertificates({ clock: systemClock, random: systemRandom }));
}

export interface Listener {
  readonly server: HttpServer;
  readonly kubeconfig: string;
}

/** Serves one cluster over HTTPS on a free port of 127.0.0.1. Its token is valid only for this cluster. */
export async function listen(handler: HttpHandler, token: string): Promise<Listener> {
  const { caPem, certPem, keyPem, clientCertPem, clientKeyPem } = await processCertificates();
  const server = await serve({ handler, host: HOST, port: 0, tls: { certPem, keyPem, clientCaPem: caPem } });
  const kubeconfig = renderKubeconfig({
    server: `https://${HOST}:${server.port}`,
    caPem,
    token,
    clientCertificatePem: clientCertPem,
    clientKeyPem,
  });
  return { server, kubeconfig };
}
