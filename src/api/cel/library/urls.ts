import { traversalCost } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, listOf, mapOf, opaqueType } from '../cel-type.ts';
import { asText, CelHostValue, type CelValue, ValueList, ValueMap } from '../cel-value.ts';
import { type CelFunctions, type CelOverload, member, overload } from '../function-declaration.ts';
import { type GoUrl, GoUrlError, hostnameOf, parseGoUrl, portOf, queryOf } from './go-url.ts';

const { bool, string } = celTypes;

export const urlType: CelType = opaqueType('kubernetes.URL');

class UrlValue extends CelHostValue {
  readonly type = urlType;
  readonly text: string;
  readonly url: GoUrl;

  constructor(text: string, url: GoUrl) {
    super();
    this.text = text;
    this.url = url;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof UrlValue && this.text === other.text;
  }
}

function parse(text: string): GoUrl | GoUrlError {
  try {
    parseGoUrl(text, 'request');
    return parseGoUrl(text, 'any');
  } catch (error) {
    if (error instanceof GoUrlError) return error;
    throw error;
  }
}

function getter(id: string, result: CelType, read: (url: GoUrl) => CelValue): CelOverload {
  return member(id, { args: [urlType], result }, (value = null) => {
    if (!(value instanceof UrlValue)) throw noSuchOverload();
    return read(value.url);
  });
}

/** `kubernetes.urls`. */
export const urls: CelFunctions = {
  url: [
    overload(
      'string_to_url',
      { args: [string], result: urlType, cost: traversalCost({ result: 'same' }) },
      (value = null) => {
        const text = asText(value);
        const url = parse(text);
        if (url instanceof GoUrlError) {
          throw new CelEvaluationError(`URL parse error during conversion from string: ${url.message}`);
        }
        return new UrlValue(text, url);
      },
    ),
  ],
  isURL: [
    overload(
      'is_url_string',
      { args: [string], result: bool },
      (value = null) => !(parse(asText(value)) instanceof GoUrlError),
    ),
  ],
  getScheme: [getter('url_get_scheme', string, ({ scheme }) => scheme)],
  getHost: [getter('url_get_host', string, ({ host }) => host)],
  getHostname: [getter('url_get_hostname', string, hostnameOf)],
  getPort: [getter('url_get_port', string, portOf)],
  getEscapedPath: [getter('url_get_escaped_path', string, ({ escapedPath }) => escapedPath)],
  getQuery: [
    getter(
      'url_get_query',
      mapOf(string, listOf(string)),
      (url) => new ValueMap([...queryOf(url)].map(([key, values]) => [key, new ValueList(values)])),
    ),
  ],
};
