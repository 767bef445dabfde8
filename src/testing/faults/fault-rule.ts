/** The verb of a request, in Kubernetes' words. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** The verbs of paths that are no resource: methods in lower case. Empty for a path that nobody can read. */
export type OtherVerb = 'head' | 'options' | 'post' | 'put' | 'unknown' | '';

/** The methods that a rule may name. */
export type RequestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A request as rules see it. */
export interface FaultRequest {
  /** A controller by name, `test` for `cluster.client`, or the first word of a user agent. */
  readonly who: string;
  /** The method of HTTP. */
  readonly method: RequestMethod;
  /** The verb, as Kubernetes has it. */
  readonly verb: Verb | OtherVerb;
  /** The path without its query. */
  readonly path: string;
  /** The parameters behind the path: the options of most of the collector's deletions are there. */
  readonly query: URLSearchParams;
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The version of the group. */
  readonly version: string;
  /** Plural: `configmaps`; empty for paths that are no resource. */
  readonly resource: string;
  /** The subresource; empty for the object itself. */
  readonly subresource: string;
  /** The namespace; empty for cluster-scoped resources and all namespaces. */
  readonly namespace: string;
  /** For a `create` the one in its JSON body; empty when it is left to the server. */
  readonly name: string;
  /** The JSON body; undefined when there is none or it is not JSON. */
  readonly body: unknown;
}

/** Which requests a rule is about: every field that is given must be equal. */
export interface FaultMatch {
  /** The sender: a controller by name, `test` for `cluster.client`, the name of another client. */
  readonly who?: string | undefined;
  /** The method of HTTP. */
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

/** The answer of a rule in the server's place. */
export interface FaultAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** The reason of the Status; `InternalError`, `Conflict`, … */
  readonly reason?: string;
  /** The message of the Status; a sentence that names the rule unless given. */
  readonly message?: string;
  /** An integer, as the header has it. */
  readonly retryAfterSeconds?: number;
}

/** A fault, and the requests that it affects. At least one of `answer`, `delay` and `drop` says which fault. */
export interface FaultRule {
  /** Which requests; every field given must be equal, or a function says so, with true or false. */
  readonly match: FaultMatch | ((request: FaultRequest) => boolean);
  /** How often it strikes; always when absent. */
  readonly times?: number;
  /** How likely it is for a matching request, 0 to 1, by the cluster's seed; 1 when absent. */
  readonly probability?: number;
  /** Answers in the server's place: the server never sees the request. */
  readonly answer?: FaultAnswer;
  /**
   * Holds the request back so many milliseconds of the cluster's clock; then it goes on to `drop`, `answer` or the server. It
   * rejects when the cluster is stopped before.
   */
  readonly delay?: number;
  /** `request`: it never arrives. `response`: it is carried out, but its sender never learns. The connection breaks in both. */
  readonly drop?: 'request' | 'response';
}
