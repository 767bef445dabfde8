import type { Clock } from '../../base/time/clock.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { Credentials } from '../http/connect-options.ts';
import { KubeconfigError } from './kubeconfig.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';

export interface TokenFileOptions {
  readonly path: string;
  readonly io: Pick<KubeconfigIo, 'readFile'>;
  readonly clock: Clock;
}

/** Interval between reads, as in client-go. Tokens in files are replaced before they expire. */
const REREAD_MS = 60_000;

/** A bearer token that is read again periodically. While the file cannot be read, the last token is used. */
export function tokenFile({ path, io, clock }: TokenFileOptions): Credentials {
  let cached: { readonly headers: Record<string, string>; readonly readAt: number } | undefined;
  let fresh = false;
  return {
    async headers() {
      if (cached !== undefined && fresh && clock.monotonic() - cached.readAt < REREAD_MS) return cached.headers;
      try {
        const token = (await io.readFile(path)).trim();
        if (token === '') throw new KubeconfigError(`read empty token from file ${JSON.stringify(path)}`);
        cached = { headers: { authorization: `Bearer ${token}` }, readAt: clock.monotonic() };
        fresh = true;
      } catch (error) {
        if (cached !== undefined) return cached.headers;
        if (error instanceof KubeconfigError) throw error;
        throw new KubeconfigError(`unable to read the token file ${path}: ${messageOf(error)}`, { cause: error });
      }
      return cached.headers;
    },
    rejected() {
      fresh = false;
    },
  };
}
