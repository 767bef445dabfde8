import { X509Certificate } from 'node:crypto';
import { append } from '../../base/collections/append.ts';
import { type FieldError, fieldInvalid, fieldRequired } from '../../api/field-error.ts';
import { isDns1123Subdomain } from '../../api/validation/names.ts';
import { type PemBlock, pemBlocks } from '../../api/formats/pem.ts';
import type { WebhookClientConfig, WebhookService } from './client-config.ts';

const FORM = '; desired format: https://host[/path]';

/** Errors of a client configuration, in apiserver's order: exactly one of URL and service, and the form of it (`util/webhook`). */
export function validateClientConfig(config: WebhookClientConfig, path: string): FieldError[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [fieldRequired(path, 'exactly one of url or service is required')];
  }
  return url === undefined ? validateService(service, `${path}.service`) : validateUrl(url, `${path}.url`);
}

/** Go's X509 key pair loading refuses a bundle without a certificate in it; an absent bundle means the system's authorities. */
export function validateCaBundle(caBundle: string | undefined, path: string): FieldError[] {
  if (caBundle === undefined || caBundle === '') return [];
  const blocks = pemBlocks(Buffer.from(caBundle, 'base64').toString('latin1')).filter(
    ({ type }) => type === 'CERTIFICATE',
  );
  if (blocks.length > 0 && blocks.every(isCertificate)) return [];
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  return [fieldInvalid(path, caBundle, why)];
}

function isCertificate({ lines }: PemBlock): boolean {
  try {
    return new X509Certificate(Buffer.from(lines.join(''), 'base64')).raw.length > 0;
  } catch {
    return false;
  }
}

function validateUrl(text: string, path: string): FieldError[] {
  // The host is a name for the resolver: the URL class would also refuse some, such as those with malformed Punycode.
  const form = text.replace(PLAIN_HOST, '$1none');
  if (!URL.canParse(form) && !URL.canParse(form, 'https://none')) {
    return [fieldRequired(path, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URI${FORM}`)];
  }
  const { scheme, host, userInfo, fragment, query } = partsOf(text);
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(fieldInvalid(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') errors.push(fieldInvalid(path, host, `host must be specified${FORM}`));
  if (userInfo !== undefined) {
    errors.push(fieldInvalid(path, userInfo, 'user information is not permitted in the URL'));
  }
  if (fragment !== '') errors.push(fieldInvalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(fieldInvalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** A host of the characters that Go accepts unescaped, with a port of digits. */
const PLAIN_HOST = /^(https?:\/\/)[\w.~!$&'()*+,;=\u0080-\uffff-]+(?::\d*)?(?=[/?#]|$)/i;

/** The parts of a URL (RFC 3986) as written: the URL class would normalise the text that the error must name. */
const URL_PARTS = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/;

function partsOf(text: string) {
  const [, scheme = '', userInfo, host = '', query = '', fragment = ''] = URL_PARTS.exec(text) ?? [];
  return { scheme: scheme.toLowerCase(), userInfo, host, query, fragment };
}

function validateService(service: WebhookService | undefined, path: string): FieldError[] {
  const { name = '', namespace = '', port = 443, path: urlPath } = service ?? {};
  const errors: FieldError[] = [];
  if (name === '') errors.push(fieldRequired(`${path}.name`));
  if (namespace === '') errors.push(fieldRequired(`${path}.namespace`));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    errors.push(fieldInvalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  if (urlPath !== undefined) append(errors, validatePath(urlPath, `${path}.path`));
  return errors;
}

function validatePath(text: string, path: string): FieldError[] {
  if (text === '' || text === '/') return [];
  const invalid = (detail: string): FieldError => fieldInvalid(path, text, detail);
  if (text === '//') return [invalid('segment[0] may not be empty')];
  const errors: FieldError[] = text.startsWith('/') ? [] : [invalid("must start with a '/'")];
  const segments = text.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.push(invalid(`segment[${index}] may not be empty`));
    else
      append(
        errors,
        isDns1123Subdomain(segment).map((problem) => invalid(`segment[${index}]: ${problem}`)),
      );
  }
  return errors;
}
