/** The verb of a request, in Kubernetes' words. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The verbs of non-resource paths: methods in lower case. Empty for a malformed path. */
export type OtherVerb = 'head' | 'options' | 'post' | 'put' | 'unknown' | '';

/** The methods that a rule can name. */
export type RequestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A request in the form that rules match. */
export interface FaultRequest {
  /** A controller by name, `test` for `cluster.client`, or the first word of a user agent. */
  readonly who: string;
  /** The HTTP method. */
  readonly method: RequestMethod;
  /** The verb, as Kubernetes has it. */
  readonly verb: Verb | OtherVerb;
  /** The path without its query. */
  readonly path: string;
  /** The query parameters, which contain the options of most of the collector's deletions. */
  readonly query: URLSearchParams;
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The version of the group. */
  readonly version: string;
  /** Plural: `configmaps`; empty for non-resource paths. */
  readonly resource: string;
  /** The subresource; empty for the object itself. */
  readonly subresource: string;
  /** The namespace; empty for cluster-scoped resources and all namespaces. */
  readonly namespace: string;
  /** For a `create`, the name in its JSON body; empty if the server generates it. */
  readonly name: string;
  /** The JSON body; undefined if there is none or it is not JSON. */
  readonly body: unknown;
}

/** The requests that a rule matches: every given field must be equal. */
export interface FaultMatch {
  /** The sender: a controller by name, `test` for `cluster.client`, the name of another client. */
  readonly who?: string | undefined;
  /** The HTTP method. */
  readonly method?: RequestMethod | undefined;
  /** The verb, as Kubernetes has it. */
  readonly verb?: Verb | undefined;
  /** The path without its query. */
  readonly path?: string | undefined;
  /** The API group; empty for the core group. */
  readonly group?: string | undefined;
  /** The version of the group. */
  readonly version?: string | undefined;
  /** Plural: `configmaps`. */
  readonly resource?: string | undefined;
  /** The subresource; empty for the object itself. */
  readonly subresource?: string | undefined;
  /** The namespace; empty for cluster-scoped resources and all namespaces. */
  readonly namespace?: string | undefined;
  /** The name of the object. */
  readonly name?: string | undefined;
}

/** The answer of a rule instead of the server's. */
export interface FaultAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** The reason of the Status; `InternalError`, `Conflict`, … */
  readonly reason?: string;
  /** The message of the Status; by default a sentence that names the rule. */
  readonly message?: string;
  /** An integer for the header. */
  readonly retryAfterSeconds?: number;
}

/** A fault and the requests that it affects. It needs at least one of `answer`, `delay` and `drop`. */
export interface FaultRule {
  /** The matching requests: every given field must be equal, or a function returns true. */
  readonly match: FaultMatch | ((request: FaultRequest) => boolean);
  /** Maximum number of uses; unlimited if absent. */
  readonly times?: number;
  /** The probability for a matching request, 0 to 1, by the cluster's seed; 1 if absent. */
  readonly probability?: number;
  /** Answers instead of the server, which never sees the request. */
  readonly answer?: FaultAnswer;
  /**
   * Delays the request by this many milliseconds of the cluster's clock; then `drop`, `answer` or the server follows. The request rejects
   * if the cluster is stopped first.
   */
  readonly delay?: number;
  /** `request` loses the request. `response` carries it out, but loses the answer. The connection breaks in both cases. */
  readonly drop?: 'request' | 'response';
}
