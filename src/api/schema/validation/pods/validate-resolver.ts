import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldInvalid, fieldRequired } from '../../../field-error.ts';
import { validateAddress } from '../../../validation/ip-address.ts';
import { isDns1123Subdomain } from '../../../validation/names.ts';
import { isSearchDomain } from '../../../validation/value-forms.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { listOfTextsAt, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { invalidFor, validateEach } from '../../fields/validate-fields.ts';

/** Limits of a pod's DNS configuration. */

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** `dnsConfig` of a pod. */
export function validateResolver(spec: Fields, path: string): FieldError[] {
  const config = objectAt(spec, 'dnsConfig');
  if (config === undefined && spec['dnsPolicy'] !== 'None') return [];
  const at = `${path}.dnsConfig`;
  const nameservers = listOfTextsAt(config, 'nameservers');
  if (spec['dnsPolicy'] === 'None') {
    if (config === undefined) return [fieldRequired(at, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (nameservers.length === 0) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [fieldRequired(`${at}.nameservers`, detail)];
    }
  }
  if (config === undefined) return [];
  const errors: FieldError[] = [];
  if (nameservers.length > MAX_NAMESERVERS) {
    const detail = `must not have more than ${MAX_NAMESERVERS} nameservers`;
    errors.push(fieldInvalid(`${at}.nameservers`, nameservers, detail));
  }
  append(
    errors,
    nameservers.flatMap((server, index) => validateAddress(server, `${at}.nameservers[${index}]`)),
  );
  return [
    ...errors,
    ...validateSearches(listOfTextsAt(config, 'searches'), `${at}.searches`),
    ...optionsOf(config, at),
  ];
}

function validateSearches(searches: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MAX_SEARCHES) {
    errors.push(fieldInvalid(path, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    errors.push(fieldInvalid(path, searches, detail));
  }
  for (const [index, search] of searches.entries()) {
    const domain = search.replace(/\.$/, '');
    if (search !== '.') append(errors, invalidFor(isSearchDomain(domain), `${path}[${index}]`, domain));
  }
  return errors;
}

function optionsOf(config: Fields, path: string): FieldError[] {
  return objectsAt(config, 'options').flatMap((option, index) =>
    textAt(option, 'name') === '' ? [fieldRequired(`${path}.options[${index}]`, 'must not be empty')] : [],
  );
}

/** `hostAliases` of a pod. */
export function validateHostAliases(spec: Fields, path: string): FieldError[] {
  return validateEach(spec, 'hostAliases', {
    path,
    check: (alias, at) => [
      ...validateAddress(textAt(alias, 'ip'), `${at}.ip`),
      ...listOfTextsAt(alias, 'hostnames').flatMap((name, index) =>
        invalidFor(isDns1123Subdomain(name), `${at}.hostnames[${index}]`, name),
      ),
    ],
  });
}
