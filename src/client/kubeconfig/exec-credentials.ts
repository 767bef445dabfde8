import { parseTime } from '../../api/meta/time.ts';
import type { Clock } from '../../base/time/clock.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ClientCertificate, Credentials } from '../http/connect-options.ts';
import { type ExecConfig, type KubeconfigCluster, KubeconfigError } from './kubeconfig.ts';
import type { KubeconfigIo, ProgramResult } from './kubeconfig-io.ts';
import { checkClientCertificate } from './tls-material.ts';

export interface ExecCredentialsOptions {
  readonly exec: ExecConfig;
  /** Passed to the program on request (`provideClusterInfo`). */
  readonly cluster: KubeconfigCluster;
  readonly io: Pick<KubeconfigIo, 'runProgram'>;
  readonly clock: Clock;
}

/** Timeout of the program, which may use the network. */
const TIMEOUT_MS = 60_000;
/** Additional wait for the exit of the program. */
const MARGIN_MS = 5_000;
const TOO_LONG = `did not end within ${TIMEOUT_MS / 1000} s`;

interface Issued {
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: ClientCertificate | undefined;
  /** Epoch milliseconds; Infinity means until the server rejects them. */
  readonly expiresAt: number;
}

/**
 * Credentials printed by a program (client.authentication.k8s.io/v1; client-go `plugin/pkg/client/auth/exec`). Cached until they expire or
 * the server answers 401; concurrent callers share one run of the program.
 */
export function execCredentials(options: ExecCredentialsOptions): Credentials {
  const { exec, clock } = options;
  if (exec.interactiveMode === 'Always') {
    throw new KubeconfigError(
      `exec plugin ${exec.command} needs a terminal (interactiveMode Always), which is not supported`,
    );
  }
  let issued: Issued | undefined;
  let running: Promise<Issued> | undefined;
  const current = async (): Promise<Issued> => {
    if (issued !== undefined && clock.now() < issued.expiresAt) return issued;
    running ??= inTime(issue(options), options).finally(() => {
      running = undefined;
    });
    issued = await running;
    return issued;
  };
  return {
    headers: async () => (await current()).headers,
    certificate: async () => (await current()).certificate,
    rejected(carried) {
      // A late 401 does not concern credentials that were issued meanwhile.
      if (carried === issued?.headers) issued = undefined;
    },
  };
}

/** A run that never settles must not block all later requests. */
function inTime(run: Promise<Issued>, { exec, clock }: ExecCredentialsOptions): Promise<Issued> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(TIMEOUT_MS + MARGIN_MS, () => {
      reject(new KubeconfigError(`exec: executable ${exec.command} ${TOO_LONG}`));
    });
    void run.then(resolve, reject).finally(() => timer.cancel());
  });
}

async function issue({ exec, cluster, io, clock }: ExecCredentialsOptions): Promise<Issued> {
  const hint = exec.installHint === undefined ? '' : `\n${exec.installHint}`;
  const result = await io
    .runProgram({
      command: exec.command,
      args: exec.args,
      env: { ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(exec, cluster)) },
      timeoutMs: TIMEOUT_MS,
    })
    .catch((error: unknown) => {
      const text = messageOf(error);
      throw new KubeconfigError(`exec: executable ${exec.command} failed to start: ${text}${hint}`, { cause: error });
    });
  if (result.exitCode !== 0) {
    const how = howItEnded(result);
    throw new KubeconfigError(`exec: executable ${exec.command} ${how}: ${result.stderr.trim().slice(0, 2000)}${hint}`);
  }
  return readCredential(exec, result.stdout, clock.now());
}

function howItEnded({ exitCode, timedOut }: ProgramResult): string {
  if (timedOut === true) return TOO_LONG;
  return exitCode === null ? 'was ended by a signal' : `failed with exit code ${exitCode}`;
}

function execInfo(exec: ExecConfig, cluster: KubeconfigCluster): Record<string, unknown> {
  const ca = cluster.certificateAuthorityData;
  const { tlsServerName, proxyUrl, execConfig } = cluster;
  const info = {
    server: cluster.server,
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca, 'utf8').toString('base64') }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
    ...(execConfig === undefined ? {} : { config: execConfig }),
  };
  return {
    kind: 'ExecCredential',
    apiVersion: exec.apiVersion,
    spec: { ...(exec.provideClusterInfo ? { cluster: info } : {}), interactive: false },
  };
}

/** Null counts as absent, as in client-go. */
interface ExecCredential {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly status?: {
    readonly expirationTimestamp?: string | null;
    readonly token?: string | null;
    readonly clientCertificateData?: string | null;
    readonly clientKeyData?: string | null;
  } | null;
}

/** `now` is the epoch ms at which the program answered. Expired credentials are still used once. */
function readCredential(exec: ExecConfig, stdout: string, now: number): Issued {
  const refuse = (what: string): KubeconfigError => new KubeconfigError(`exec plugin ${exec.command}: ${what}`);
  let credential: ExecCredential | null;
  try {
    credential = JSON.parse(stdout) as ExecCredential | null;
  } catch (error) {
    throw new KubeconfigError(`exec plugin ${exec.command}: its output is not JSON`, { cause: error });
  }
  if (credential?.kind !== 'ExecCredential' || credential.apiVersion !== exec.apiVersion) {
    throw refuse(
      `is configured to use API version ${exec.apiVersion}, plugin returned version ${credential?.apiVersion ?? ''}`,
    );
  }
  const { status } = credential;
  if (status === undefined || status === null) throw refuse("didn't return a status field");
  const token = status.token ?? '';
  const clientCertificateData = status.clientCertificateData ?? '';
  const clientKeyData = status.clientKeyData ?? '';
  const expirationTimestamp = status.expirationTimestamp ?? undefined;
  if ((clientCertificateData === '') !== (clientKeyData === ''))
    throw refuse('returned only certificate or key, not both');
  if (token === '' && clientCertificateData === '') throw refuse("didn't return a token or cert/key pair");
  const expiresAt = expirationTimestamp === undefined ? Infinity : parseTime(expirationTimestamp);
  if (expiresAt === undefined)
    throw refuse(`returned a bad expirationTimestamp ${JSON.stringify(expirationTimestamp)}`);
  const pair = { certPem: clientCertificateData, keyPem: clientKeyData };
  if (clientCertificateData !== '') checkClientCertificate(pair);
  return {
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    certificate: clientCertificateData === '' ? undefined : pair,
    expiresAt: Math.max(expiresAt, now + 1),
  };
}
