import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject } from '../../api/codec/json/json-value.ts';

/** A key that signs tokens, ECDSA P-256 (`ES256`), with its id. */
export interface SigningKey {
  /** The id of the public key in kube-apiserver's form: SHA-256 of its DER form in URL-safe base64. */
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Throws if the PEM text is not an ECDSA P-256 private key. */
export function signingKeyOf(privateKeyPem: string): SigningKey {
  const privateKey = createPrivateKey(privateKeyPem);
  if (privateKey.asymmetricKeyType !== 'ec' || privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new TypeError('not an ECDSA P-256 private key');
  }
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(der).digest('base64url'), privateKey, publicKey };
}

/** The public key as a JSON web key (RFC 7517), with which others verify. */
export function publicJwk({ id, publicKey }: SigningKey): Readonly<Record<string, unknown>> {
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, crv, alg: 'ES256', x, y };
}

/** JWS in compact form (RFC 7515). */
export function signCompact(key: SigningKey, claims: object): string {
  const signed = `${encode({ alg: 'ES256', kid: key.id })}.${encode(claims)}`;
  return `${signed}.${signatureOf(key, signed)}`;
}

function signatureOf({ privateKey }: SigningKey, text: string): string {
  return sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

/** The content of a token before its signature is verified. It must not be trusted. */
export interface UnverifiedToken {
  readonly keyId: string | undefined;
  readonly algorithm: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Buffer;
}

const BASE64URL = /^[\w-]*$/;

/** Undefined if the text is not a JWS in compact form. */
export function parseCompact(token: string): UnverifiedToken | undefined {
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined;
  const head = decode(header);
  const claims = decode(payload);
  if (head === undefined || claims === undefined || !BASE64URL.test(signature)) return undefined;
  const { alg, kid } = head;
  return {
    keyId: typeof kid === 'string' && kid !== '' ? kid : undefined,
    algorithm: alg,
    claims,
    signed: `${header}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** True if this key made the signature. The key determines the algorithm, never the token. */
export function isSignedBy({ publicKey }: SigningKey, { signed, signature, algorithm }: UnverifiedToken): boolean {
  if (algorithm !== 'ES256') return false;
  return verify('sha256', Buffer.from(signed), { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!BASE64URL.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
