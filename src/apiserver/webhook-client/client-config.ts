import { posix } from 'node:path';

/** The address of a webhook, in the form of all configurations (`WebhookClientConfig`). One of `url` and `service` is given. */
export interface WebhookClientConfig {
  /** `https://host[:port]/path`. */
  readonly url?: string;
  readonly service?: WebhookService;
  /** Base64 of the PEM certificates to trust; absent or blank: those of the system. */
  readonly caBundle?: string;
}

export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

const DEFAULT_SERVICE_PORT = 443;

/** The target of a call, before names are resolved. */
export interface WebhookTarget {
  /** `host:port` as in the URL and the Host header. */
  readonly authority: string;
  readonly path: string;
  /** The address in the URL, to which calls connect directly; absent for services, which are resolved. */
  readonly server?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly port: number };
  /** Name that the certificate of a service must have. */
  readonly serverName?: string;
  readonly caPem?: string;
}

/**
 * Returns the target of the webhook. Undefined if neither URL nor service is given, or if the URL has no host; a validated configuration
 * has one.
 */
export function webhookTarget({ url, service, caBundle }: WebhookClientConfig): WebhookTarget | undefined {
  const pem = Buffer.from(caBundle ?? '', 'base64').toString('utf8');
  const trust = pem.trim() === '' ? {} : { caPem: pem };
  if (service !== undefined) {
    const { namespace, name, path = '', port = DEFAULT_SERVICE_PORT } = service;
    const serverName = `${name}.${namespace}.svc`;
    return {
      authority: `${serverName}:${port}`,
      path: cleanPath(path),
      service: { namespace, name, port },
      serverName,
      ...trust,
    };
  }
  if (url === undefined) return undefined;
  // The call fails with the words of the transport if its host is no name.
  const parts = URL.canParse(url) ? new URL(url) : WRITTEN_URL.exec(url)?.groups;
  if (parts === undefined) return undefined;
  const { protocol = '', host = '', pathname = '' } = parts;
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return { authority: host, path: cleanPath(pathname), server: `${protocol}//${host}`, ...trust };
}

const WRITTEN_URL = /^(?<protocol>https?:)\/\/(?<host>[^/?#\s]+)(?<pathname>[^?#\s]*)/;

/**
 * As client-go joins paths: no empty and no relative segment, no trailing slash. A Go server answers any other form with a redirect,
 * which ends the call; envtest installs webhooks as `https://host:port//path`.
 */
function cleanPath(path: string): string {
  const clean = posix.normalize(`/${path}`);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}
