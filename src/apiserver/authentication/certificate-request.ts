import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { CertificationRequest } from '@peculiar/asn1-csr';
import { AsnConvert, AsnParser } from '@peculiar/asn1-schema';
import type { AlgorithmIdentifier, Name } from '@peculiar/asn1-x509';
import { Constructed, fromBER, ObjectIdentifier, Sequence } from 'asn1js';
import { pemBlocks } from '../../api/formats/pem.ts';

/** The fields of a certificate request (PKCS #10, RFC 2986) that the server needs. */
export interface CertificateRequest {
  /** `O` of the subject. */
  readonly organizations: readonly string[];
  /** The reason why its signature does not prove possession of the key; undefined if it does. */
  readonly signatureFault?: string;
}

const ORGANIZATION = '2.5.4.10';

interface SignatureAlgorithm {
  readonly key: 'rsa' | 'ec' | 'ed25519';
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
  readonly padding?: number;
}

/** SHA-1 and MD5 prove nothing, as in Go. */
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

/**
 * Parses the first PEM block of a text. Throws an error with Go's message if there is none. Import this module on demand, because it loads
 * the ASN.1 library, which most servers never need.
 */
export function readCertificateRequest(pem: string): CertificateRequest {
  const [block] = pemBlocks(pem);
  if (block?.type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const text = block.lines.filter((line) => !line.includes(':')).join('');
  const request = parseRequest(Buffer.from(text, 'base64'));
  const organizations = organizationsOf(request.certificationRequestInfo.subject);
  const fault = signatureFault(request);
  return { organizations, ...(fault === undefined ? {} : { signatureFault: fault }) };
}

/** The messages are those of Go's `encoding/asn1`. */
function parseRequest(der: Buffer): CertificationRequest {
  if (der.length === 0) throw new Error('asn1: syntax error: sequence truncated');
  const { offset, result } = decodedBer(der);
  if (offset < 0) throw new Error('asn1: syntax error: data truncated');
  if (offset < der.length) throw new Error('asn1: syntax error: trailing data');
  try {
    return AsnParser.fromASN(result, CertificationRequest) as CertificationRequest;
  } catch {
    throw new Error("asn1: structure error: tags don't match");
  }
}

/** The library throws various errors for malformed texts, such as a broken UTF-16 text or date. */
function decodedBer(der: Buffer): ReturnType<typeof fromBER> {
  try {
    return fromBER(der);
  } catch {
    throw new Error('asn1: syntax error: invalid value');
  }
}

function organizationsOf(subject: Name): string[] {
  return [...subject]
    .flatMap((set) => [...set])
    .filter(({ type }) => type === ORGANIZATION)
    .map(({ value }) => value.toString());
}

function signatureFault(request: CertificationRequest): string | undefined {
  const { certificationRequestInfo, certificationRequestInfoRaw, signatureAlgorithm, signature } = request;
  const how = algorithmOf(signatureAlgorithm);
  if (how === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  let key: KeyObject;
  try {
    const spki = Buffer.from(AsnConvert.serialize(certificationRequestInfo.subjectPKInfo));
    key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return 'x509: cannot verify signature: algorithm unimplemented';
  }
  const type = key.asymmetricKeyType;
  if (type !== how.key) {
    return `x509: signature algorithm specifies an ${how.key} public key, but have public key of type ${type ?? ''}`;
  }
  const proof = how.padding === undefined ? key : { key, padding: how.padding };
  const signed = Buffer.from(certificationRequestInfoRaw ?? new ArrayBuffer());
  return verify(how.hash, signed, proof, Buffer.from(signature)) ? undefined : FAULTS[how.key];
}

function algorithmOf({ algorithm, parameters }: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  if (algorithm !== RSA_PSS) return ALGORITHMS[algorithm];
  const hash = parameters ? pssHash(fromBER(parameters).result) : undefined;
  const name = hash === undefined ? undefined : PSS_HASHES[hash];
  return name === undefined ? undefined : { key: 'rsa', hash: name, padding: constants.RSA_PKCS1_PSS_PADDING };
}

/** `hashAlgorithm`, which is field 0 of `RSASSA-PSS-params` (RFC 4055). */
function pssHash(params: unknown): string | undefined {
  if (!(params instanceof Sequence)) return undefined;
  const [field] = params.valueBlock.value.filter(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 0);
  const [identifier] = field instanceof Constructed ? field.valueBlock.value : [];
  const [oid] = identifier instanceof Sequence ? identifier.valueBlock.value : [];
  return oid instanceof ObjectIdentifier ? oid.getValue() : undefined;
}
