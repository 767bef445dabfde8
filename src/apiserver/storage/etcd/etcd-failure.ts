import { Code, ConnectError } from '@connectrpc/connect';

/**
 * The failure of a call, by the required reaction:
 * - `compacted`, `future`: the requested revision is not kept any more, or does not exist yet;
 * - `too-large`: the request is above the server's limit, and a retry gets the same answer;
 * - `no-lease`: the lease has expired;
 * - `stale-token`: log in again;
 * - `denied`: the user has no right to do this;
 * - `no-space`: etcd's quota is used up; it only reads until an administrator helps;
 * - `away`: nothing is wrong with the call: another member may answer, or the same one later. `applied` says whether the call may have
 *   taken effect all the same;
 * - `other`: etcd refuses, for a reason that a retry does not change.
 */
export type EtcdFailure =
  | {
      readonly kind:
        | 'compacted'
        | 'future'
        | 'too-large'
        | 'no-lease'
        | 'stale-token'
        | 'denied'
        | 'no-space'
        | 'other';
      readonly message: string;
    }
  | { readonly kind: 'away'; readonly applied: 'no' | 'maybe'; readonly message: string };

/** A call that etcd refused, or that nobody answered. */
export class EtcdError extends Error {
  readonly failure: EtcdFailure;
  constructor(failure: EtcdFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.name = 'EtcdError';
    this.failure = failure;
  }
}

/** System errors that prove that nothing was sent. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * Errors of etcd's `api/v3rpc/rpctypes/error.go`, by texts that are the same in every version since 3.4, because the codes are ambiguous.
 */
export function classifyFailure(error: unknown): EtcdFailure {
  const { code, rawMessage, cause } = ConnectError.from(error);
  const message = detail(rawMessage, cause);
  switch (code) {
    case Code.OutOfRange:
      if (rawMessage.includes('has been compacted')) return { kind: 'compacted', message };
      if (rawMessage.includes('future revision')) return { kind: 'future', message };
      break;
    case Code.InvalidArgument:
      if (saysStaleToken(rawMessage)) return { kind: 'stale-token', message };
      if (rawMessage.includes('request is too large')) return { kind: 'too-large', message };
      if (rawMessage.includes('user name is empty') || rawMessage.includes('authentication failed')) {
        return { kind: 'denied', message };
      }
      break;
    case Code.ResourceExhausted:
      if (rawMessage.includes('space exceeded')) return { kind: 'no-space', message };
      if (rawMessage.includes('larger than max')) return { kind: 'too-large', message };
      // This is our own limit, and the answer would be as large the next time.
      if (rawMessage.includes('readMaxBytes')) break;
      // etcd itself or a limit of the connection refused the call, and nothing was applied.
      return { kind: 'away', applied: rawMessage.includes('too many requests') ? 'no' : 'maybe', message };
    case Code.NotFound:
      if (rawMessage.includes('lease not found')) return { kind: 'no-lease', message };
      break;
    case Code.Unauthenticated:
      return { kind: 'stale-token', message };
    case Code.PermissionDenied:
      return { kind: 'denied', message };
    case Code.Unavailable:
    case Code.DeadlineExceeded:
    case Code.Aborted:
    case Code.Canceled:
    case Code.Internal:
    case Code.Unknown:
      return { kind: 'away', applied: isNeverSent(rawMessage, cause) ? 'no' : 'maybe', message };
    default:
      break;
  }
  return { kind: 'other', message };
}

/**
 * True if a new token helps, like clientv3's `shouldRefreshToken`: the old one is unknown, or, for a JWT, users or roles have changed since
 * it was signed. Watches report it only by this text.
 */
export function saysStaleToken(message: string): boolean {
  return message.includes('invalid auth token') || message.includes('revision of auth store is old');
}

function isNeverSent(rawMessage: string, cause: unknown): boolean {
  // A member without a leader refuses before it proposes anything.
  if (rawMessage.includes('no leader')) return true;
  const code = systemCode(cause);
  return code !== undefined && (NEVER_SENT.includes(code) || isCertificateProblem(code));
}

function isCertificateProblem(code: string): boolean {
  return code.startsWith('ERR_TLS') || code.startsWith('UNABLE_TO') || /CERT|SELF_SIGNED/.test(code);
}

function detail(rawMessage: string, cause: unknown): string {
  const code = systemCode(cause);
  const why = cause instanceof Error ? cause.message : '';
  if (why !== '' && !rawMessage.includes(why)) return rawMessage === '' ? why : `${rawMessage}: ${why}`;
  return code === undefined || rawMessage.includes(code) ? rawMessage : `${rawMessage} (${code})`;
}

function systemCode(cause: unknown): string | undefined {
  let at = cause;
  // The depth is limited, because an error may be its own cause.
  for (let depth = 0; depth < 4 && at instanceof Error; depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    at = at.cause;
  }
  return undefined;
}
