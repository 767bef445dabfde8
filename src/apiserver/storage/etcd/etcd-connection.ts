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

/** The timeout of one attempt. */
export interface CallOptions {
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type RangeFields = MessageInitShape<typeof RangeRequestSchema>;
export type TxnFields = MessageInitShape<typeof TxnRequestSchema>;

/** Client certificate, key and authority, all PEM; empty for http. */
export interface EtcdTls {
  /** Whom to believe; the system's authorities unless given. */
  readonly caPem?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** Larger answers are an error: a page of a list is far below (`etcd-store.ts`), a part of a watch's answer too. */
const READ_LIMIT_BYTES = 512 << 20;

/** A connection that says nothing for this long is asked for a sign of life; etcd does not like more than one in 5 s. */
const PING_EVERY_MS = 10_000;
const PING_TIMEOUT_MS = 4_000;

/** The window of unread bytes; Node's default of 64 KiB makes lists slow. */
const STREAM_WINDOW_BYTES = 4 << 20;

/** One member of the cluster, by one HTTP/2 connection that is opened when first used and again when it broke. */
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

  /** Monotonic ms at which the member last said something. */
  heardAt = Number.NEGATIVE_INFINITY;

  /**
   * A call was not answered for a long time. Ends the connection when nothing at all came over it since `since`, or when it is still
   * being made: the next call makes a new one, and a watch that hangs on it looks for another member.
   */
  doubt(since: number): void {
    if (this.heardAt < since || this.#session.state() === 'connecting') this.#session.abort();
  }

  /** Ends everything under way on it. */
  close(): void {
    this.#session.abort();
  }
}
