import { systemClock } from '../../base/clock.ts';
import { loadClientConfig } from '../../client/kubeconfig/client-config.ts';
import { connect } from '../../client/http/connect.ts';
import type { ClientConfig } from '../../client/http/connect-options.ts';
import { KubeconfigError } from '../../client/kubeconfig/kubeconfig.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { StatusError } from '../../api/status-error.ts';
import { TransportError } from '../../client/http/transport.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { durationOf } from '../flags/duration-flag.ts';
import { systemKubeconfigIo } from '../process/system-kubeconfig-io.ts';
import type { Terminal } from '../process/terminal.ts';
import { kubegcVersion } from '../process/version.ts';
import type { ClusterFlags } from './cluster-options.ts';

/** A connection to the cluster that a command is about. Close it when the command ends. */
export interface ClusterAccess {
  readonly client: RestClient;
  /** `https://host:port` */
  readonly server: string;
  /** Name of the context, or `in-cluster`. */
  readonly source: string;
  /** The namespace asked for, or that of the context. */
  readonly namespace: string;
  close(): Promise<void>;
}

/** Opens a connection; sends nothing yet. Warnings of the server go to stderr once each. Throws a {@link CommandError}. */
export async function openCluster(flags: ClusterFlags, terminal: Terminal): Promise<ClusterAccess> {
  const timeoutMs = durationOf('--request-timeout', flags.requestTimeout, { least: 1, most: 24 * 60 * 60_000 });
  const config = await clientConfig(flags);
  const warned = new Set<string>();
  const client = new RestClient({
    transport: connect({ ...config, clock: systemClock }),
    clock: systemClock,
    userAgent: `kubectl-cascade/${kubegcVersion} (${process.platform}/${process.arch})`,
    defaultTimeoutMs: timeoutMs,
    onWarning: ({ text }) => {
      // Every kind is listed: what is deprecated of them nobody here has chosen.
      if (warned.has(text) || / is deprecated in v/.test(text)) return;
      warned.add(text);
      terminal.stderr(`Warning: ${text}\n`);
    },
  });
  return {
    client,
    server: config.server,
    source: config.source,
    namespace: flags.namespace ?? config.namespace,
    close: () => client.close(),
  };
}

/**
 * Opens a connection, runs the command and closes it. What the cluster or the network refuse becomes a {@link CommandError} in
 * kubectl's words, with the next step.
 */
export async function withCluster<T>(
  flags: ClusterFlags,
  terminal: Terminal,
  command: (cluster: ClusterAccess) => Promise<T>,
): Promise<T> {
  const cluster = await openCluster(flags, terminal);
  try {
    return await command(cluster);
  } catch (error) {
    throw asCommandError(error, cluster);
  } finally {
    await cluster.close();
  }
}

function asCommandError(error: unknown, { server, source }: ClusterAccess): unknown {
  if (error instanceof TransportError) {
    const advice = `Is the cluster of ${source} running and reachable from here? Choose another with --context or --kubeconfig.`;
    return new CommandError(`cannot reach ${server}: ${error.message}`, advice, { cause: error });
  }
  if (error instanceof StatusError) {
    const advice =
      error.code === 401
        ? `The credentials of ${source} are wrong or have expired: sign in again, or choose another --context.`
        : error.code === 403
          ? `Ask for the right, or choose another --context. kubectl auth can-i --list shows what ${source} may do.`
          : undefined;
    const name = error.status.reason === undefined ? '' : ` (${error.status.reason})`;
    return new CommandError(`from server${name}: ${error.message}`, advice, { cause: error });
  }
  if (error instanceof KubeconfigError) {
    return new CommandError(`no credentials for ${server}: ${error.message}`, `They are those of ${source}.`, {
      cause: error,
    });
  }
  return error;
}

async function clientConfig({ kubeconfig, context }: ClusterFlags): Promise<ClientConfig> {
  try {
    return await loadClientConfig({
      io: systemKubeconfigIo,
      clock: systemClock,
      ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    const isSystemError = error instanceof Error && 'syscall' in error;
    if (!(error instanceof KubeconfigError) && !isSystemError) throw error;
    throw new CommandError(
      `cannot tell which cluster to use: ${isSystemError ? systemReason(error) : error.message}`,
      'Give --kubeconfig FILE and --context NAME, or set KUBECONFIG.',
      { cause: error },
    );
  }
}
