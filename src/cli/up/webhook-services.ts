import type { ServiceAddress } from '../../apiserver/webhook-client/service-resolver.ts';
import { CommandError } from '../process/command-error.ts';
import { parseListenAddress } from '../flags/listen-address.ts';

/** Parses `NAMESPACE/NAME=HOST:PORT` of `--webhook-service`. */
export function webhookServicesOf(flags: readonly string[] = []): ReadonlyMap<string, ServiceAddress> {
  const hosts = new Map<string, ServiceAddress>();
  for (const text of flags.flatMap((flag) => flag.split(',')).filter((part) => part !== '')) {
    const [, service, address] = /^([a-z0-9-]+\/[a-z0-9-]+)=(.+)$/.exec(text) ?? [];
    if (service === undefined || address === undefined) {
      throw new CommandError(
        `invalid --webhook-service "${text}"`,
        'Give NAMESPACE/NAME=HOST:PORT, for example default/my-webhook=127.0.0.1:9443.',
      );
    }
    hosts.set(service, parseListenAddress(address, '--webhook-service'));
  }
  return hosts;
}
