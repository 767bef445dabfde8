import { generateKeyPairSync, sign } from 'node:crypto';
import { TAG } from './der.ts';

export interface RequestOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** PEM block type. */
  readonly type?: string;
  /** Signed by a key that is not the requested one. */
  readonly forged?: true;
}

const SIGNED_BY = { ed25519: '06032b6570', ec: '06082a8648ce3d040302', rsa: '06092a864886f70d01010b0500' } as const;
const NAME_TYPES = { commonName: '0603550403', organization: '060355040a' } as const;

/** A request for a certificate with a new key, as PEM in base64: what `spec.request` of a CertificateSigningRequest holds. */
export function certificateRequest(
  { commonName = 'somebody', organizations = [], type = 'CERTIFICATE REQUEST', forged }: RequestOptions = {},
  algorithm: keyof typeof SIGNED_BY = 'ed25519',
): string {
  const [{ publicKey, privateKey }, other] = [keysOf(algorithm), keysOf(algorithm)];
  const subject = value(
    TAG.sequence,
    ...organizations.map((organization) => nameOf('organization', organization)),
    nameOf('commonName', commonName),
  );
  const info = value(
    TAG.sequence,
    Buffer.from('020100', 'hex'),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    value(TAG.numbered0),
  );
  const proof = sign(algorithm === 'ed25519' ? null : 'sha256', info, forged ? other.privateKey : privateKey);
  const identifier = value(TAG.sequence, Buffer.from(SIGNED_BY[algorithm], 'hex'));
  const der = value(TAG.sequence, info, identifier, value(TAG.bitString, Buffer.from([0]), proof));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
  return Buffer.from(pem).toString('base64');
}

function keysOf(algorithm: keyof typeof SIGNED_BY): ReturnType<typeof generateKeyPairSync> {
  if (algorithm === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return algorithm === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
}

function nameOf(type: keyof typeof NAME_TYPES, text: string): Buffer {
  const utf8String = 0x0c;
  return value(
    TAG.set,
    value(TAG.sequence, Buffer.from(NAME_TYPES[type], 'hex'), value(utf8String, Buffer.from(text))),
  );
}

function value(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}
