import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError, systemReason } from '../process/command-error.ts';
import { formatHost } from '../flags/listen-address.ts';
import { parseGoFlags } from '../flags/go-flags.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilParentEnds, untilSignal } from '../process/termination.ts';
import { kubegcVersion } from '../process/version.ts';

/** The default address of etcd. */
const DEFAULT_URL = 'http://127.0.0.1:2379';

/** Flags that a framework passes. All except the first concern data, which this program does not have. */
const HELP = `etcd, as far as a test framework looks at it: kubegc's kube-apiserver keeps its objects itself.

  --listen-client-urls URLS        where /health and /version are served (${DEFAULT_URL})
  --advertise-client-urls URLS     accepted
  --listen-peer-urls URLS          accepted
  --data-dir DIR                   accepted
  --unsafe-no-fsync                accepted
`;

/** The answer at etcd's URL by which our kube-apiserver recognizes the stand-in. */
export interface EtcdVersion {
  readonly etcdserver: string;
  readonly etcdcluster: string;
  readonly kubegc?: string;
}

/** The version of etcd's API that the stand-in imitates. */
const ETCD_VERSION = '3.6.0';

/** Answers envtest's requests to etcd. Port 0 chooses a free one. */
export class EtcdStandIn {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(url: string): Promise<EtcdStandIn> {
    const { protocol, hostname, port } = parseUrl(url);
    if (protocol !== 'http:') {
      throw new CommandError(`cannot serve ${url}: only http`, 'Give --listen-client-urls=http://127.0.0.1:PORT.');
    }
    const version: EtcdVersion = { etcdserver: ETCD_VERSION, etcdcluster: ETCD_VERSION, kubegc: kubegcVersion };
    const answers: Readonly<Record<string, unknown>> = {
      '/health': { health: 'true', reason: '' },
      '/readyz': { health: 'true', reason: '' },
      '/version': version,
    };
    const server = createServer(({ url: target = '' }, response) => {
      const found = answers[target.split('?')[0] ?? ''];
      const body = found ?? { error: 'this is no etcd: kubegc keeps its objects itself', code: 12 };
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    try {
      await new Promise<void>((listening, failed) => {
        server.once('error', failed).listen({ host, port: Number(port || 2379) }, listening);
      });
    } catch (error) {
      throw new CommandError(`cannot listen on ${url}: ${systemReason(error)}`, undefined, { cause: error });
    }
    return new EtcdStandIn(server);
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${formatHost(address)}:${port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

/** The executable `etcd` of `kubegc envtest-assets`. */
export async function runEtcd(args: readonly string[], terminal: Terminal): Promise<number> {
  const flags = parseGoFlags(args);
  if (flags.has('help') || flags.has('h')) {
    terminal.stdout(HELP);
    return 0;
  }
  if (flags.has('version')) {
    terminal.stdout(`etcd Version: ${ETCD_VERSION} (kubegc ${kubegcVersion})\n`);
    return 0;
  }
  const ended = Promise.race([untilSignal(), untilParentEnds()]);
  const urls = flags.list('listen-client-urls');
  const servers: EtcdStandIn[] = [];
  try {
    for (const url of urls.length === 0 ? [DEFAULT_URL] : urls) servers.push(await EtcdStandIn.listen(url));
    terminal.stderr(`kubegc serves as etcd on ${servers.map(({ url }) => url).join(', ')}\n`);
    await ended;
    return 0;
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new CommandError(`invalid URL "${text}" in --listen-client-urls`);
  return new URL(text);
}
