import type { TLSSocket } from 'node:tls';
import type { HttpRequest } from '../../base/http-message.ts';

type Peer = NonNullable<HttpRequest['peer']>;

type Subject = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reading a certificate costs more than a small request, and it never changes on a connection. */
const peers = new WeakMap<object, { readonly peer: Peer | undefined }>();

/** Subject of the client certificate, when one was sent that our authority signed and that is valid now. */
export function peerOf(socket: TLSSocket): Peer | undefined {
  if (socket.authorized !== true) return undefined;
  const known = peers.get(socket);
  if (known !== undefined) return known.peer;
  // Null when the connection broke in the meantime, which the published types do not say.
  const certificate = socket.getPeerCertificate() as { readonly subject?: Subject } | null;
  const subject = certificate?.subject;
  const commonName = first(subject?.['CN']);
  const peer = commonName === undefined ? undefined : { commonName, organizations: all(subject?.['O']) };
  peers.set(socket, { peer });
  return peer;
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

function all(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : [...value];
}
