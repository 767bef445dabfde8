import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { HttpRequest, PeerSubject } from '../../base/http-message.ts';

type Peer = NonNullable<HttpRequest['peer']>;

type Subject = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The subject attribute with the uid of a user (apiserver `pkg/authentication/request/x509`, OID of Kubernetes). */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

interface KnownPeer {
  readonly peer: Peer | undefined;
  /** The time at which the certificate becomes invalid, ms since 1970; Infinity without one. */
  readonly expires: number;
}

/** Reading a certificate costs more than a small request, and it never changes on a connection. */
const peers = new WeakMap<object, KnownPeer>();

/**
 * The client of the connection (API-371): the subject of its certificate. The certificate must be signed by our authority, be a client
 * certificate, and be valid now. `refused`: the client sent another certificate, or it has expired since. Undefined: it sent none, or one
 * without a name.
 */
export function peerOf(socket: TLSSocket, now: number): Peer | undefined {
  let known = peers.get(socket);
  if (known === undefined) {
    known = readPeer(socket);
    peers.set(socket, known);
  }
  return now < known.expires ? known.peer : 'refused';
}

function readPeer(socket: TLSSocket): KnownPeer {
  // Cleartext connections have no such method, and the method returns null if the connection has broken.
  const certificate = (socket.getPeerCertificate as TLSSocket['getPeerCertificate'] | undefined)?.call(socket) as
    | Partial<PeerCertificate>
    | null
    | undefined;
  if (certificate?.raw === undefined) return { peer: undefined, expires: Number.POSITIVE_INFINITY };
  const expires = Date.parse(certificate.valid_to ?? '');
  return { peer: socket.authorized ? subjectOf(certificate) : 'refused', expires };
}

function subjectOf({ subject, fingerprint256 }: Partial<PeerCertificate>): PeerSubject | 'refused' | undefined {
  const attributes = subject as unknown as Subject | undefined;
  // The last of several values counts, as in Go.
  const commonName = all(attributes?.['CN']).at(-1) ?? '';
  if (commonName === '') return undefined;
  const uids = all(attributes?.[UID_ATTRIBUTE]);
  if (uids.length > 1 || uids[0] === '') return 'refused';
  return {
    commonName,
    organizations: all(attributes?.['O']),
    ...(uids[0] === undefined ? {} : { uid: uids[0] }),
    ...(fingerprint256 === undefined ? {} : { fingerprint: fingerprint256.replaceAll(':', '').toLowerCase() }),
  };
}

function all(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : [...value];
}
