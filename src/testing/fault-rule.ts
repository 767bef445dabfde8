/** A request as rules see it. */
export interface FaultRequest {
  /** A controller by name, `test` for `cluster.client`, or the first word of a user agent. */
  readonly who: string;
  readonly method: string;
  /** `create`, `delete`, `deletecollection`, `get`, `list`, `patch`, `update`, `watch`. */
  readonly verb: string;
  readonly path: string;
  /** The parameters behind the path: the options of most of the collector's deletions are there. */
  readonly query: URLSearchParams;
  readonly group: string;
  readonly version: string;
  /** Plural: `configmaps`; empty for paths that are no resource. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** For a `create` the one in its JSON body; empty when it is left to the server. */
  readonly name: string;
  /** The JSON body; undefined when there is none or it is not JSON. */
  readonly body: unknown;
}

export interface FaultAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** Of the Status; `InternalError`, `Conflict`, … */
  readonly reason?: string;
  readonly message?: string;
  /** An integer, as the header has it. */
  readonly retryAfterSeconds?: number;
}

export interface FaultRule {
  /** Which requests; every field given must be equal, or a function says so, with true or false. */
  readonly match: Partial<Omit<FaultRequest, 'body' | 'query'>> | ((request: FaultRequest) => boolean);
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
