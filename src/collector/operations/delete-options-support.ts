import { StatusError } from '../../api/status-error.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { serverVersion, type ServerVersion } from '../../client/discovery/server-version.ts';
import type { Target } from '../decide/target.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';

/**
 * kube-apiserver reads preconditions in the query since 1.18. A later version is required, because a server beside it, or one that is
 * rolled back, may be older.
 */
const SINCE: ServerVersion = { major: 1, minor: 20 };
/** Interval between two attempts to learn the version, ms. */
const ASK_AGAIN_MS = 30_000;
const TIMEOUT_MS = 32_000;

/**
 * Decides where the options of a DELETE are sent. In the query they cost client and server a tenth less. But a server that does not read
 * them there deletes without preconditions, so the server must be known to read them (designs/0008). Until the server has reported its
 * version, and for ever if it never does, they are sent in the body, as client-go sends them.
 */
export class DeleteOptionsSupport {
  #queryIsRead = false;

  placeOf({ apiVersion }: Pick<Target, 'apiVersion'>): 'body' | 'query' {
    return this.#queryIsRead && isServedByKubeApiserver(apiVersion) ? 'query' : 'body';
  }

  note(version: ServerVersion | undefined): void {
    this.#queryIsRead = version !== undefined && (version.major - SINCE.major || version.minor - SINCE.minor) >= 0;
  }

  /** Asks until the server answers, even with an error. */
  async learn(client: RestClient, { clock, logger, signal }: Learning): Promise<void> {
    while (!signal.aborted) {
      try {
        this.note(await serverVersion(client, { signal, timeoutMs: TIMEOUT_MS }));
        return;
      } catch (error) {
        logger.debug('the version of the server is not known', { error: messageOf(error) });
        if (error instanceof StatusError && error.code < 429) return;
      }
      await sleepUnlessAborted(clock, ASK_AGAIN_MS, signal);
    }
  }
}

interface Learning {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}
