import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { systemClock } from '../../../base/time/clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { EtcdClient } from './etcd-client.ts';
import { EtcdKeys } from './etcd-keys.ts';
import { EtcdStore } from './etcd-store.ts';
import { KV, type TxnRequest } from './rpc.generated.ts';

/** The fate of a transaction: lost before or after it was applied, or refused. */
export type Fate = 'lost' | 'applied, answer lost' | ConnectError;

interface Held {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
}

/** A minimal etcd for transactions that write one key: the revisions of last changes are preconditions. */
export class EtcdMember {
  readonly #held = new Map<string, Held>();
  readonly #fates: Fate[] = [];
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #stores: EtcdStore[] = [];
  #revision = 1n;
  /** Runs once, after a transaction was lost. */
  #meanwhile: (() => Promise<void>) | undefined;
  readonly #server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(KV, {
          range: ({ key }) => ({ header: { revision: this.#revision }, kvs: this.#at(key) }),
          txn: (request) => this.#txn(request),
        });
      },
    }),
  );

  static async start(): Promise<EtcdMember> {
    const member = new EtcdMember();
    member.#server.on('session', (session) => member.#sessions.add(session));
    member.#server.listen(0, '127.0.0.1');
    await once(member.#server, 'listening');
    return member;
  }

  /** A separate store on it. */
  store(seed = 1): EtcdStore {
    const common = { clock: systemClock, random: seededRandom(seed), logger: silentLogger };
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    // The endpoint is listed twice, so that the second attempt follows at once.
    const client = new EtcdClient({ ...common, endpoints: [url, url] });
    const store = new EtcdStore({ ...common, client, keys: new EtcdKeys('/registry') });
    this.#stores.push(store);
    return store;
  }

  /** The fates of the next transactions. `meanwhile` runs before the first lost one is sent again. */
  next(fates: readonly Fate[], meanwhile?: () => Promise<void>): void {
    this.#fates.push(...fates);
    this.#meanwhile = meanwhile;
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }

  #at(key: Uint8Array): Held[] {
    const held = this.#held.get(Buffer.from(key).toString());
    return held === undefined ? [] : [held];
  }

  async #txn(request: TxnRequest) {
    const fate = this.#fates.shift();
    if (fate instanceof ConnectError) throw fate;
    const answer = fate === 'lost' ? undefined : this.#apply(request);
    if (fate === undefined) return answer!;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    await meanwhile?.();
    throw new ConnectError('etcdserver: request timed out', Code.Unavailable);
  }

  #apply({ compare, success: [write] }: TxnRequest) {
    const key = compare[0]?.key ?? new Uint8Array();
    const [held] = this.#at(key);
    const header = () => ({ revision: this.#revision });
    if (compare.some((guard) => (this.#at(guard.key)[0]?.modRevision ?? 0n) !== guard.targetUnion.value)) {
      const response = { case: 'responseRange', value: { kvs: this.#at(key) } } as const;
      return { header: header(), succeeded: false, responses: [{ response }] };
    }
    this.#revision++;
    const name = Buffer.from(key).toString();
    if (write?.request.case === 'requestPut') {
      const createRevision = held?.createRevision ?? this.#revision;
      this.#held.set(name, { key, value: write.request.value.value, createRevision, modRevision: this.#revision });
      return {
        header: header(),
        succeeded: true,
        responses: [{ response: { case: 'responsePut', value: {} } as const }],
      };
    }
    const response = { case: 'responseDeleteRange', value: { prevKvs: this.#at(key) } } as const;
    this.#held.delete(name);
    return { header: header(), succeeded: true, responses: [{ response }] };
  }
}
