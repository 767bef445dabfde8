import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { derChildren, DerError, derValues, type DerValue, objectIdentifier, TAG } from './der.ts';
import { pemBlocks } from './pem.ts';

/** A request for a certificate (PKCS #10, RFC 2986), as far as somebody here asks. */
export interface CertificateRequest {
  /** `O` of the subject. */
  readonly organizations: readonly string[];
  /** Why its signature does not show that the requester has the key; undefined when it does. */
  readonly signatureFault?: string;
}

const ORGANIZATION = '2.5.4.10';

interface SignatureAlgorithm {
  readonly key: 'rsa' | 'ec' | 'ed25519';
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
  readonly padding?: number;
}

/** SHA-1 and MD5 count as no proof, as in Go. */
const ALGORITHMS: Readonly<Record<string, SignatureAlgorithm>> = {
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
  '1.3.101.112': { key: 'ed25519', hash: null },
};
const RSA_PSS = '1.2.840.113549.1.1.10';
const PSS_HASHES: Readonly<Record<string, 'sha256' | 'sha384' | 'sha512'>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

const FAULTS: Readonly<Record<SignatureAlgorithm['key'], string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
};

/** Of the first PEM block of a text. Throws an error whose message says, as Go would, why there is none. */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const text = block.lines.filter((line) => !line.includes(':')).join('');
  const [request, ...trailing] = derValues(Buffer.from(text, 'base64'));
  if (trailing.length > 0) throw new DerError('syntax error: trailing data');
  const [info, algorithm, signature] = derChildren(request, TAG.sequence);
  const [version, subject, publicKey] = derChildren(info, TAG.sequence);
  if (version?.tag !== TAG.integer) throw new DerError("structure error: tags don't match");
  const organizations = organizationsOf(subject);
  const fault = signatureFault(info, publicKey, { algorithm, signature });
  return { organizations, ...(fault === undefined ? {} : { signatureFault: fault }) };
}

function organizationsOf(subject: DerValue | undefined): string[] {
  return derChildren(subject, TAG.sequence)
    .flatMap((set) => derChildren(set, TAG.set))
    .map((attribute) => derChildren(attribute, TAG.sequence))
    .flatMap(([type, value]) =>
      type !== undefined && value !== undefined && objectIdentifier(type) === ORGANIZATION ? [textOf(value)] : [],
    );
}

/** Two bytes a character in a BMPString; the other kinds that names have are ASCII in what matters here. */
function textOf({ tag, content }: DerValue): string {
  const bmpString = 0x1e;
  if (tag !== bmpString) return content.toString('utf8');
  return Buffer.from(content.subarray(0, content.length & ~1))
    .swap16()
    .toString('utf16le');
}

interface Signing {
  readonly algorithm: DerValue | undefined;
  readonly signature: DerValue | undefined;
}

function signatureFault(
  signed: DerValue | undefined,
  publicKey: DerValue | undefined,
  { algorithm, signature }: Signing,
): string | undefined {
  if (publicKey?.tag !== TAG.sequence || signature?.tag !== TAG.bitString || signed === undefined) {
    throw new DerError("structure error: tags don't match");
  }
  if (signature.content[0] !== 0) throw new DerError('syntax error: invalid padding bits in BIT STRING');
  const how = algorithmOf(derChildren(algorithm, TAG.sequence));
  if (how === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' });
  } catch {
    return 'x509: cannot verify signature: algorithm unimplemented';
  }
  const type = key.asymmetricKeyType;
  if (type !== how.key) {
    return `x509: signature algorithm specifies an ${how.key} public key, but have public key of type ${type ?? ''}`;
  }
  const proof = how.padding === undefined ? key : { key, padding: how.padding };
  // The first byte of a bit string counts the bits that are left over in the last.
  return verify(how.hash, signed.whole, proof, signature.content.subarray(1)) ? undefined : FAULTS[how.key];
}

function algorithmOf([identifier, parameters]: readonly DerValue[]): SignatureAlgorithm | undefined {
  if (identifier?.tag !== TAG.objectIdentifier) throw new DerError("structure error: tags don't match");
  const oid = objectIdentifier(identifier);
  if (oid !== RSA_PSS) return ALGORITHMS[oid];
  const field = derChildren(parameters, TAG.sequence).find(({ tag }) => tag === TAG.numbered0);
  const [hash] = field === undefined ? [] : derValues(field.content).flatMap((each) => derChildren(each, TAG.sequence));
  const name = hash === undefined ? undefined : PSS_HASHES[objectIdentifier(hash)];
  return name === undefined ? undefined : { key: 'rsa', hash: name, padding: constants.RSA_PKCS1_PSS_PADDING };
}
