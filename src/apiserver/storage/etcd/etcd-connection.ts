import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import {
  Auth,
  type CompactionResponse,
  KV,
  Lease,
  type RangeRequestSchema,
  type RangeResponse,
  type TxnRequestSchema,
  type TxnResponse,
  Watch,
} from './rpc.generated.ts';

/** Options of one attempt. */
export interface CallOptions {
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type RangeFields = MessageInitShape<typeof RangeRequestSchema>;
export type TxnFields = MessageInitShape<typeof TxnRequestSchema>;

/** Client certificate, key and authority, all PEM; empty for http. */
export interface EtcdTls {
  /** The trusted authorities; default: those of the system. */
  readonly caPem?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** Maximum size of an answer. A page of a list is far below (`etcd-store.ts`), and so is a part of a watch's answer. */
const READ_LIMIT_BYTES = 512 << 20;

/** Idle time before a keepalive ping. etcd refuses more than one in 5 s. */
const PING_EVERY_MS = 10_000;
const PING_TIMEOUT_MS = 4_000;

/** The flow-control window; Node's default of 64 KiB makes lists slow. */
const STREAM_WINDOW_BYTES = 4 << 20;

/** One member of the cluster, over one HTTP/2 connection that is opened on first use and again after it broke. */
export class EtcdConnection {
  readonly url: string;
  readonly #kv: Client<typeof KV>;
  readonly watch: Client<typeof Watch>;
  readonly lease: Client<typeof Lease>;
  readonly auth: Client<typeof Auth>;
  readonly #session: Http2SessionManager;

  constructor(url: string, tls: EtcdTls) {
    this.url = url;
    const ping = { pingIntervalMs: PING_EVERY_MS, pingTimeoutMs: PING_TIMEOUT_MS };
    this.#session = new Http2SessionManager(url, ping, {
      settings: { initialWindowSize: STREAM_WINDOW_BYTES },
      ...(tls.caPem === undefined ? {} : { ca: tls.caPem, allowPartialTrustChain: true }),
      ...(tls.certPem === undefined ? {} : { cert: tls.certPem }),
      ...(tls.keyPem === undefined ? {} : { key: tls.keyPem }),
    });
    const transport = createGrpcTransport({
      baseUrl: url,
      sessionManager: this.#session,
      readMaxBytes: READ_LIMIT_BYTES,
      acceptCompression: [],
    });
    this.#kv = createClient(KV, transport);
    this.watch = createClient(Watch, transport);
    this.lease = createClient(Lease, transport);
    this.auth = createClient(Auth, transport);
  }

  range(request: RangeFields, options: CallOptions): Promise<RangeResponse> {
    return this.#kv.range(request, options);
  }

  txn(request: TxnFields, options: CallOptions): Promise<TxnResponse> {
    return this.#kv.txn(request, options);
  }

  compact(revision: bigint, options: CallOptions): Promise<CompactionResponse> {
    return this.#kv.compact({ revision }, options);
  }

  /** Monotonic ms at which the member last sent anything. */
  heardAt = Number.NEGATIVE_INFINITY;

  /**
   * Called after a call was not answered for a long time. Ends the connection if it received nothing since `since`, or is still being
   * opened: the next call opens a new one, and its watches move to another member.
   */
  doubt(since: number): void {
    if (this.heardAt < since || this.#session.state() === 'connecting') this.#session.abort();
  }

  /** Ends all calls and watches on it. */
  close(): void {
    this.#session.abort();
  }
}
