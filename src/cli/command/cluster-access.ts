import { systemClock } from '../../base/time/clock.ts';
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

/** A connection to the cluster of a command. The command closes it when it is done. */
export interface ClusterAccess {
  readonly client: RestClient;
  /** `https://host:port` */
  readonly server: string;
  /** Name of the context, or `in-cluster`. */
  readonly source: string;
  /** The requested namespace, or that of the context. */
  readonly namespace: string;
  close(): Promise<void>;
}

/** Opens a connection without sending anything. Each warning of the server is printed once on stderr. Throws a {@link CommandError}. */
export async function openCluster(flags: ClusterFlags, terminal: Terminal): Promise<ClusterAccess> {
  const timeoutMs = requestTimeoutOf(flags.requestTimeout);
  const config = await clientConfig(flags);
  const warned = new Set<string>();
  const client = new RestClient({
    transport: connect({ ...config, clock: systemClock }),
    clock: systemClock,
    userAgent: `kubectl-cascade/${kubegcVersion} (${process.platform}/${process.arch})`,
    defaultTimeoutMs: timeoutMs,
    onWarning: ({ text }) => {
      // All kinds are listed, so warnings about deprecated ones do not concern the user.
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
 * Opens a connection, runs the command and closes it. Converts a failure of the cluster or the network to a {@link CommandError} in
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

/** True if Node's message says that the kubeconfig does not trust the signer of the certificate. */
function isUntrusted(error: TransportError): boolean {
  const text = `${error.message} ${error.cause instanceof Error ? `${error.cause.message} ${'code' in error.cause ? String(error.cause.code) : ''}` : ''}`;
  return /self[- ]signed certificate|unable to (verify|get)|certificate signature failure|SELF_SIGNED|UNABLE_TO/i.test(
    text,
  );
}

function asCommandError(error: unknown, { server, source }: ClusterAccess): unknown {
  if (error instanceof TransportError) {
    if (isUntrusted(error)) {
      return new CommandError(
        `${server} does not show a certificate that ${source} trusts: ${error.message}`,
        'Was the server started anew with another certificate authority (kubegc up --store memory makes one each time)? Take its new kubeconfig.',
        { cause: error },
      );
    }
    const advice = `Is the cluster of ${source} running and reachable from here? Choose another with --context or --kubeconfig.`;
    return new CommandError(`cannot reach ${server}: ${error.message}`, advice, { cause: error });
  }
  if (error instanceof StatusError) {
    const advice =
      error.code === 401
        ? `The credentials of ${source} are wrong or have expired, or the server was started anew without them: sign in again, take its new kubeconfig, or choose another --context.`
        : error.code === 403 && !error.message.includes('\nHINT: ')
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

/** Milliseconds. As in kubectl, a bare number is in seconds, and 0 means no limit. */
function requestTimeoutOf(text: string): number {
  if (/^0+[a-z]*$/.test(text)) return NO_LIMIT_MS;
  const duration = /^\d+$/.test(text) ? `${text}s` : text;
  return durationOf('--request-timeout', duration, { least: 1, most: 24 * NO_LIMIT_MS });
}

/** A request that takes longer will never be answered. */
const NO_LIMIT_MS = 60 * 60_000;

async function clientConfig(flags: ClusterFlags): Promise<ClientConfig> {
  const { kubeconfig, context, server, cluster, user } = flags;
  try {
    return await loadClientConfig({
      io: systemKubeconfigIo,
      clock: systemClock,
      ...present({ path: kubeconfig, context, server, cluster, user }),
      clusterFields: clusterFieldsOf(flags),
      userFields: userFieldsOf(flags),
    });
  } catch (error) {
    const isSystemError = error instanceof Error && 'syscall' in error;
    if (!(error instanceof KubeconfigError) && !isSystemError) throw error;
    throw new CommandError(
      `cannot find out which cluster to use: ${isSystemError ? systemReason(error) : error.message}`,
      'Give --kubeconfig FILE and --context NAME, or set KUBECONFIG.',
      { cause: error },
    );
  }
}

function clusterFieldsOf({ certificateAuthority, tlsServerName, insecureSkipTlsVerify }: ClusterFlags) {
  const skips = insecureSkipTlsVerify === true || insecureSkipTlsVerify === 'true';
  return present({ certificateAuthority, tlsServerName, insecureSkipTlsVerify: skips ? true : undefined });
}

function userFieldsOf(flags: ClusterFlags) {
  const { token, username, password, clientCertificate, clientKey, as, asUid, asGroup = [], asUserExtra = [] } = flags;
  if (as === undefined && (asUid !== undefined || asGroup.length > 0 || asUserExtra.length > 0)) {
    throw new CommandError('requesting uid, groups or user-extra without impersonating a user', 'Give --as USER too.');
  }
  const extra = new Map<string, string[]>();
  for (const each of asUserExtra) {
    const at = each.indexOf('=');
    if (at < 1) throw new CommandError(`invalid --as-user-extra "${each}"`, 'Give KEY=VALUE.');
    extra.set(each.slice(0, at), [...(extra.get(each.slice(0, at)) ?? []), each.slice(at + 1)]);
  }
  const impersonate = as === undefined ? undefined : { user: as, groups: asGroup, extra, ...present({ uid: asUid }) };
  return present({ token, username, password, clientCertificate, clientKey, impersonate });
}

/** The object without undefined fields. */
function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
