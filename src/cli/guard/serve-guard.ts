import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyYaml } from '../../api/codec/yaml/yaml.ts';
import { createCertificateAuthority } from '../../apiserver/authentication/certificates.ts';
import type { KeyCertificate } from '../../apiserver/authentication/certificate-signer.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { systemRandom } from '../../base/random/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import { Guard } from '../../cascade/guard/guard.ts';
import type { GuardBudget } from '../../cascade/guard/budget.ts';
import { protectionPolicy, staticPolicy, webhookConfiguration } from '../../cascade/guard/guard-policies.ts';
import { DEFAULT_EXEMPT_GROUPS, DEFAULT_EXEMPT_USERS, type GuardRules } from '../../cascade/guard/judge.ts';
import { openCluster } from '../command/cluster-access.ts';
import { durationOf } from '../flags/duration-flag.ts';
import { formatHost, parseListenAddress } from '../flags/listen-address.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { createLogger } from '../process/logger.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilSignal } from '../process/termination.ts';
import { GuardServer } from './guard-server.ts';
import { readBudgets } from './read-budgets.ts';
import { ServingCertificate } from './serving-certificate.ts';
import { mayUnprotect } from './unprotect-right.ts';

/** The values of the command line. */
export interface GuardFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly print?: 'webhook' | 'policy' | 'static-policy';
  readonly listen: string;
  readonly certificateDir: string;
  readonly servingName?: readonly string[];
  readonly renewAfter: string;
  readonly service?: string;
  readonly url?: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly webhookTimeout: string;
  readonly budget?: string;
  readonly budgetPerHour?: string;
  readonly budgets?: string;
  readonly exemptUser?: readonly string[];
  readonly exemptGroup?: readonly string[];
  readonly pvcProtectionIgnoreFinishedPods?: boolean;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly logFormat: 'text' | 'json';
}

/** Maximum renewal time. A serving certificate is valid for a year, and is replaced at least a month before it expires. */
const MOST_RENEWAL_MS = 335 * 24 * 60 * 60_000;

/** Serves until SIGINT or SIGTERM, or prints. Resolves with the exit code. */
export async function serveGuard(flags: GuardFlags, terminal: Terminal): Promise<number> {
  const rules = await rulesOf(flags);
  if (flags.print === 'policy' || flags.print === 'static-policy') {
    const objects = flags.print === 'policy' ? protectionPolicy(rules) : staticPolicy(rules);
    terminal.stdout(objects.map((object) => stringifyYaml(object)).join('---\n'));
    return 0;
  }
  const renewAfterMs = durationOf('--renew-after', flags.renewAfter, { least: 1000, most: MOST_RENEWAL_MS });
  const listen = parseListenAddress(flags.listen);
  const reachedBy = flags.print === 'webhook' ? reachedByOf(flags) : undefined;
  const timeoutSeconds = wholeOf('--webhook-timeout', flags.webhookTimeout, 30);
  const authority = await authorityIn(flags.certificateDir);
  if (reachedBy !== undefined) {
    const { failurePolicy } = flags;
    const namespace = 'service' in reachedBy ? { namespace: reachedBy.service.namespace } : {};
    const options = { reachedBy, caPem: authority.certPem, failurePolicy, timeoutSeconds, ...namespace };
    terminal.stdout(stringifyYaml(webhookConfiguration(options)));
    return 0;
  }
  const { logLevel: level, logFormat: format } = flags;
  const logger = createLogger({ level, format, write: terminal.stderr, now: () => systemClock.now() });
  const cluster = await openCluster({ ...flags, requestTimeout: '10s' }, terminal);
  const guard = new Guard({
    client: cluster.client,
    clock: systemClock,
    rules,
    mayUnprotect: (request, signal) => mayUnprotect(cluster.client, request, signal),
  });
  const ready: { because: string | undefined } = { because: 'the API server has not answered yet' };
  let server: GuardServer | undefined;
  const [renewing, certificate] = await ServingCertificate.start(
    {
      clock: systemClock,
      random: systemRandom,
      hosts: [listen.host, ...(flags.servingName ?? []), ...serviceNames(flags.service)],
      renewAfterMs,
      onRenewed: (next) => {
        server?.renew(next);
        logger.info('replaced the serving certificate');
      },
      onFailed: (error) =>
        logger.error('the serving certificate could not be replaced, will retry', { error: messageOf(error) }),
    },
    authority,
  );
  try {
    server = await GuardServer.start({
      listen,
      certificate,
      guard,
      notReadyBecause: () => ready.because,
      onRefused: (about) => logger.info('refused a deletion', about),
      onFailed: (error) => logger.error('a review failed', { error: messageOf(error) }),
    });
    terminal.stdout(`reviews: https://${formatHost(listen.host)}:${server.port}/validate\n`);
    const stop = new AbortController();
    const probing = probe(cluster, ready, stop.signal).then(() =>
      ready.because === undefined ? terminal.stdout(`kubegc is ready: guard of ${cluster.server}\n`) : undefined,
    );
    await untilSignal();
    stop.abort();
    await probing;
    return 0;
  } finally {
    renewing.stop();
    await server?.close();
    await cluster.close();
  }
}

const PROBE_MS = 1000;

/** Ready once the API server has answered; later failures show in each review. */
async function probe(
  { client }: Awaited<ReturnType<typeof openCluster>>,
  ready: { because: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await client.request({ method: 'GET', path: '/api', signal });
      ready.because = undefined;
      return;
    } catch (error) {
      ready.because = `the API server has not answered yet: ${messageOf(error)}`;
      await new Promise<void>((resolve) => void systemClock.setTimer(PROBE_MS, resolve));
    }
  }
}

async function rulesOf(flags: GuardFlags): Promise<GuardRules> {
  const perDelete = flags.budget === undefined ? undefined : wholeOf('--budget', flags.budget);
  const perHour = flags.budgetPerHour === undefined ? undefined : wholeOf('--budget-per-hour', flags.budgetPerHour);
  const budget: GuardBudget = {
    ...(perDelete === undefined ? {} : { perDelete }),
    ...(perHour === undefined ? {} : { perHour }),
  };
  const listed = flags.budgets === undefined ? [] : await readBudgets(flags.budgets);
  return {
    exemptUsers: [...DEFAULT_EXEMPT_USERS, ...(flags.exemptUser ?? [])],
    exemptGroups: [...DEFAULT_EXEMPT_GROUPS, ...(flags.exemptGroup ?? [])],
    ignoreFinishedPods: flags.pvcProtectionIgnoreFinishedPods === true,
    budgets: [...listed, ...(perDelete === undefined && perHour === undefined ? [] : [budget])],
  };
}

function wholeOf(flag: string, text: string, most = 1_000_000_000): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a whole number from 1 to ${most}.`);
}

type ReachedBy = Parameters<typeof webhookConfiguration>[0]['reachedBy'];

function reachedByOf({ service, url }: GuardFlags): ReachedBy {
  if (service !== undefined && url === undefined) {
    const [namespace = '', name = '', ...more] = service.split('/');
    if (namespace !== '' && name !== '' && more.length === 0) return { service: { namespace, name, port: 443 } };
    throw new CommandError(`invalid --service "${service}"`, 'Give NAMESPACE/NAME.');
  }
  if (url !== undefined && service === undefined) {
    if (URL.canParse(url) && new URL(url).protocol === 'https:') return { url };
    throw new CommandError(`invalid --url "${url}"`, 'Give a URL such as https://guard.example.com:9443/validate.');
  }
  throw new CommandError('the webhook configuration needs --service or --url, and not both', 'Give one of them.');
}

function serviceNames(service: string | undefined): string[] {
  const [namespace = '', name = ''] = service?.split('/') ?? [];
  return name === ''
    ? []
    : [`${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}

/** The authority in a directory, which several instances may share. It is created if the directory has none. */
async function authorityIn(directory: string): Promise<KeyCertificate> {
  const certFile = join(directory, 'ca.crt');
  const keyFile = join(directory, 'ca.key');
  try {
    const [certPem, keyPem] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    return { certPem, keyPem };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw unreadable(directory, error);
  }
  try {
    const authority = await createCertificateAuthority({ clock: systemClock, random: systemRandom });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFileAtomically(keyFile, authority.keyPem, 0o600);
    await writeFileAtomically(certFile, authority.certPem, 0o644);
    return authority;
  } catch (error) {
    throw unreadable(directory, error);
  }
}

function unreadable(directory: string, error: unknown): CommandError {
  return new CommandError(
    `cannot use the certificate directory ${directory}: ${systemReason(error)}`,
    'Choose another directory with --certificate-dir.',
    { cause: error },
  );
}
