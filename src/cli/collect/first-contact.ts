import { StatusError } from '../../api/status-error.ts';
import { exponentialBackoff } from '../../base/time/backoff.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { KubeconfigError } from '../../client/kubeconfig/kubeconfig.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { TransportError } from '../../client/http/transport.ts';
import { CommandError } from '../process/command-error.ts';

interface FirstContactOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `https://host:port` */
  readonly server: string;
  /** Context name or `in-cluster`. */
  readonly source: string;
}

const TIMEOUT_MS = 10_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Retries a request until the server answers, because a server may start later than its client. A permanent failure, such as of credentials
 * and certificates, is a {@link CommandError}. Rejects with an AbortError if aborted.
 */
export async function firstContact(options: FirstContactOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, logger, server } = options;
  const backoff = exponentialBackoff({ baseMs: FIRST_PAUSE_MS, capMs: LONGEST_PAUSE_MS, jitter: 0.2, random });
  for (;;) {
    try {
      await client.request({ method: 'GET', path: '/api', signal, timeoutMs: TIMEOUT_MS });
      return;
    } catch (error) {
      if (!signal.aborted) refuseIfHopeless(error, options);
      if (error instanceof StatusError && error.code < 500 && error.code !== 429) return;
      const pause = backoff.next();
      if (!signal.aborted) {
        logger.warn('the API server does not answer, will retry', {
          server,
          error: messageOf(error),
          againInSeconds: Math.round(pause / 1000),
        });
      }
      await sleep(clock, pause, signal);
    }
  }
}

function refuseIfHopeless(error: unknown, { server, source }: FirstContactOptions): void {
  if (error instanceof StatusError && error.code === 401) {
    throw new CommandError(
      `${server} does not know who asks: ${error.message}`,
      `The credentials of ${source} are wrong or have expired.`,
      { cause: error },
    );
  }
  if (error instanceof TransportError && error.code === 'tls') {
    const { what, advice } = handshakeProblem(error, source);
    throw new CommandError(`${what} ${server}: ${error.message}`, advice, { cause: error });
  }
  if (error instanceof KubeconfigError) {
    throw new CommandError(`no credentials for ${server}: ${error.message}`, `They are those of ${source}.`, {
      cause: error,
    });
  }
}

/** OpenSSL names the cause in the code or in the text, depending on the version of Node. */
function handshakeProblem({ message, cause }: TransportError, source: string): { what: string; advice: string } {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const told = `${code} ${message}`.replaceAll('_', ' ');
  if (/wrong version number|packet length too long|http request/i.test(told)) {
    return { what: 'cannot speak TLS with', advice: 'What listens there does not speak TLS: is its URL http://…?' };
  }
  if (/\balert\b/i.test(told)) {
    return { what: 'no TLS with', advice: `The server may not accept the client certificate of ${source}.` };
  }
  return {
    what: 'cannot trust',
    advice: `The certificate authority of ${source} did not sign the server's certificate, or that names another host.`,
  };
}
