import type { HttpRequest } from '../../../base/http-message.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { RequestInfo } from './request-info.ts';
import { WarningList } from './warning-list.ts';

/**
 * Maximum number of audit annotations of one request. Webhooks and policies add them, each with a limited length (upstream allows 10 KiB
 * for values).
 */
const MAX_ANNOTATIONS = 100;
const MAX_ANNOTATION_CHARACTERS = 10 * 1024;

const noWarnings: readonly string[] = [];

interface RequestContextFields {
  readonly request: HttpRequest;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly auditId: string;
}

/** One request on its way through the filters to its endpoint. */
export class RequestContext {
  readonly request: HttpRequest;
  /** Still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly auditId: string;
  /** Set by the authentication filter before any use. */
  user: UserInfo = { username: '', groups: [] };
  /** The sender of an impersonated request (API-376). */
  impersonator: UserInfo | undefined;
  /** The name of a created object, which the path lacks; otherwise empty. */
  createdName = '';
  /** Throws a 403 unless the user also has this verb on the requested object. Set by the authorization filter. */
  requireVerb: (verb: string) => void = () => undefined;
  /** The time by `Clock.monotonic` at which the request times out. Set by the timeout filter; absent for long-running requests. */
  deadline: number | undefined;
  #annotations: Map<string, string> | undefined;
  #expired = false;
  #warnings: WarningList | undefined;

  constructor(fields: RequestContextFields) {
    this.request = fields.request;
    this.path = fields.path;
    this.query = fields.query;
    this.info = fields.info;
    this.auditId = fields.auditId;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' || value === undefined ? value : value.join(', ');
  }

  /** Adds a warning to the answer (API-010). Each text is sent once. */
  readonly warn = (text: string): void => {
    this.#warnings ??= new WarningList();
    this.#warnings.add(text);
  };

  /** Annotates the request's audit event. The first value of a key wins. */
  readonly annotate = (key: string, value: string): void => {
    this.#annotations ??= new Map();
    if (this.#annotations.size >= MAX_ANNOTATIONS || this.#annotations.has(key)) return;
    this.#annotations.set(key, value.slice(0, MAX_ANNOTATION_CHARACTERS));
  };

  /** Undefined if there are none, as for nearly every request. */
  get annotations(): ReadonlyMap<string, string> | undefined {
    return this.#annotations;
  }

  /** True once the request was answered with a timeout (API-006), so that work in progress may stop. */
  readonly expired = (): boolean => this.#expired;

  expire(): void {
    this.#expired = true;
  }

  get warnings(): readonly string[] {
    return this.#warnings?.texts ?? noWarnings;
  }
}
