import { systemClock } from '../../src/base/time/clock.ts';
import { systemKubeconfigIo } from '../../src/cli/process/system-kubeconfig-io.ts';
import { connect } from '../../src/client/http/connect.ts';
import { loadClientConfig } from '../../src/client/kubeconfig/client-config.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';

/** A client of a server, connected as the cascade commands connect. */
export async function cascadeClient(kubeconfig: string): Promise<RestClient> {
  const config = await loadClientConfig({ io: systemKubeconfigIo, clock: systemClock, path: kubeconfig });
  return new RestClient({
    transport: connect({ ...config, clock: systemClock }),
    clock: systemClock,
    userAgent: 'kubegc/bench',
    defaultTimeoutMs: 60_000,
  });
}

/** Calls `work` for the numbers below `count`, so many at once. */
export async function inFlight(count: number, parallel: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: parallel }, loop));
}
