import {
  fieldDuplicate,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
} from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../../api/validation/names.ts';
import { messageOf } from '../../../base/errors/thrown.ts';
import type { readCertificateRequest } from '../../authentication/certificate-request.ts';
import { repeatedIndexes } from '../../../base/collections/repeated.ts';

const MIN_EXPIRATION_SECONDS = 600;
const MAX_DOMAIN = 253;
const MAX_SIGNER_NAME = MAX_DOMAIN + 1 + 63 + 1 + 253;
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

/** `certificates.k8s.io/v1` KeyUsage, sorted as in the text of a refusal. */
const USAGES: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** A parameter, because it is loaded on demand. */
type ReadRequest = typeof readCertificateRequest;

interface SigningSpec {
  readonly request?: string | null;
  readonly signerName?: string;
  readonly usages?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
}

/** Validates the spec of a new CertificateSigningRequest (`pkg/apis/certificates/validation`); it is immutable afterwards. */
export function validateSigningSpec(object: KubeObject, read: ReadRequest): FieldError[] {
  const { request, signerName = '', usages, expirationSeconds } = (object['spec'] ?? {}) as SigningSpec;
  return [
    ...validateRequest(request ?? '', read),
    ...validateUsages(usages ?? []),
    ...validateSignerName(signerName),
    ...(expirationSeconds !== null && expirationSeconds !== undefined && expirationSeconds < MIN_EXPIRATION_SECONDS
      ? [
          fieldInvalid(
            'spec.expirationSeconds',
            expirationSeconds,
            'may not specify a duration less than 600 seconds (10 minutes)',
          ),
        ]
      : []),
  ];
}

function validateRequest(request: string, read: ReadRequest): FieldError[] {
  const invalid = (why: string): FieldError[] => [fieldInvalid('spec.request', request === '' ? null : request, why)];
  try {
    const { signatureFault } = read(Buffer.from(request, 'base64').toString('latin1'));
    return signatureFault === undefined ? [] : invalid(signatureFault);
  } catch (error) {
    return invalid(messageOf(error));
  }
}

function validateUsages(usages: readonly string[]): FieldError[] {
  const path = 'spec.usages';
  if (usages.length === 0) return [fieldRequired(path)];
  const repeated = repeatedIndexes(usages);
  const indexed = usages.map((usage, i) => ({ usage, path: `${path}[${i}]`, twin: repeated.has(i) }));
  return [
    ...indexed.filter(({ usage }) => !USAGES.includes(usage)).map((of) => fieldNotSupported(of.path, of.usage, USAGES)),
    ...indexed.filter(({ twin }) => twin).map((of) => fieldDuplicate(of.path, of.usage)),
  ];
}

/** `example.com/some.signer`. The type itself requires its presence. */
function validateSignerName(name: string): FieldError[] {
  const path = 'spec.signerName';
  if (name === '') return [];
  if (name === LEGACY_SIGNER) {
    return [fieldInvalid(path, name, 'the legacy signerName is not allowed via this API version')];
  }
  const [domain = '', signer = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldInvalid(path, name, form)];
  }
  const labels = domain.split('.');
  return [
    ...(domain.length > MAX_DOMAIN ? [fieldTooLong(path, MAX_DOMAIN)] : []),
    ...firstBadLabel(path, { part: domain, problems: isDns1123Label }),
    ...(labels.length < 2
      ? [fieldInvalid(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...firstBadLabel(path, { part: signer, problems: isDns1123Subdomain }),
    ...(name.length > MAX_SIGNER_NAME ? [fieldTooLong(path, MAX_SIGNER_NAME)] : []),
  ];
}

function firstBadLabel(
  path: string,
  { part, problems }: { readonly part: string; problems(label: string): string[] },
): FieldError[] {
  const bad = part.split('.').find((label) => problems(label).length > 0);
  if (bad === undefined) return [];
  return problems(bad).map((why) => fieldInvalid(path, part, `validating label ${quoted(bad)}: ${why}`));
}
