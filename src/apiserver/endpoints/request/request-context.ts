import type { HttpRequest } from '../../../base/http-message.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { RequestInfo } from './request-info.ts';
import { WarningList } from './warning-list.ts';

/**
 * Annotations for the audit event of one request; webhooks and policies bring them, each of a stated length (upstream has 10 KiB for values).
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

/** One request on its way through the filters and its endpoint. */
export class RequestContext {
  readonly request: HttpRequest;
  /** Still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly auditId: string;
  /** Set by the authentication filter, before anything asks for it. */
  user: UserInfo = { username: '', groups: [] };
  /** The original user of an impersonated request (API-376). */
  impersonator: UserInfo | undefined;
  /** The name of the created object, which the path lacks; empty otherwise. */
  createdName = '';
  /** Throws the 403 unless the user may also do this to what is requested. Set by the authorization filter. */
  requireVerb: (verb: string) => void = () => undefined;
  /** When the request is answered with a time-out, by `Clock.monotonic`. Set by the timeout filter; long ones have none. */
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

  /** API-010. The same text is sent once. */
  readonly warn = (text: string): void => {
    this.#warnings ??= new WarningList();
    this.#warnings.add(text);
  };

  /** Annotates the request's audit event. The first value of a key counts. */
  readonly annotate = (key: string, value: string): void => {
    this.#annotations ??= new Map();
    if (this.#annotations.size >= MAX_ANNOTATIONS || this.#annotations.has(key)) return;
    this.#annotations.set(key, value.slice(0, MAX_ANNOTATION_CHARACTERS));
  };

  /** Undefined where there is none, as for nearly every request. */
  get annotations(): ReadonlyMap<string, string> | undefined {
    return this.#annotations;
  }

  /** Whether the request has been answered with a time-out (API-006): work that is still going on may stop. */
  readonly expired = (): boolean => this.#expired;

  expire(): void {
    this.#expired = true;
  }

  get warnings(): readonly string[] {
    return this.#warnings?.texts ?? noWarnings;
  }
}
