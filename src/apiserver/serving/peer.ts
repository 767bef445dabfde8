import type { PeerCertificate, TLSSocket } from 'node:tls';
import type { HttpRequest, PeerSubject } from '../../base/http-message.ts';

type Peer = NonNullable<HttpRequest['peer']>;

type Subject = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The subject attribute with the uid of a user (apiserver `pkg/authentication/request/x509`, OID of Kubernetes). */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** Parsed certificates, because parsing costs more than a small request and a connection's certificate never changes. */
const peers = new WeakMap<object, { readonly peer: Peer | undefined }>();

/**
 * The client (API-371): the subject of its certificate if our authority signed it, it is a client certificate and it is valid now;
 * `refused` for any other certificate; undefined without one, or for one without a name.
 */
export function peerOf(socket: TLSSocket): Peer | undefined {
  const known = peers.get(socket);
  if (known !== undefined) return known.peer;
  const peer = readPeer(socket);
  peers.set(socket, { peer });
  return peer;
}

function readPeer(socket: TLSSocket): Peer | undefined {
  // Cleartext connections have no such method, and it returns null after the connection broke.
  const certificate = (socket.getPeerCertificate as TLSSocket['getPeerCertificate'] | undefined)?.call(socket) as
    | Partial<PeerCertificate>
    | null
    | undefined;
  if (certificate?.raw === undefined) return undefined;
  return socket.authorized ? subjectOf(certificate) : 'refused';
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
