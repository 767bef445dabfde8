import type { RestClient } from '../../src/client/rest/rest-client.ts';
import { type BenchCluster, CONFIG_MAP, refTo } from './bench-cluster.ts';
import { firstInLine } from './first-in-line.ts';

const CLIENTS = 100;
/** Two hundred writes a second. */
const WRITE_EVERY_MS = 5;

/**
 * A hundred clients with connections of their own, who write in turn, each to its own object. They are all in this process, which is first in
 * line for a core meanwhile where it may be: what they wait for is the server.
 */
export class OtherClients {
  readonly #cluster: BenchCluster;
  readonly #clients: readonly RestClient[];
  #written = 0;
  #first = false;

  private constructor(cluster: BenchCluster) {
    this.#cluster = cluster;
    this.#clients = Array.from({ length: CLIENTS }, () => cluster.newClient());
  }

  static async open(cluster: BenchCluster): Promise<OtherClients> {
    await cluster.createMany(CLIENTS, (n) => ({ of: CONFIG_MAP, name: nameOf(n) }));
    return new OtherClients(cluster);
  }

  /** Milliseconds of patches on schedule, until there are so many or it is enough. */
  async writes(count: number, enough: () => boolean = () => false): Promise<number[]> {
    // A connection that was idle for long may have been closed: how long one takes to open is not what is measured.
    await Promise.all(this.#clients.map((_, n) => this.#write(n)));
    using line = firstInLine();
    this.#first = line.granted;
    const times: number[] = [];
    const under: Promise<void>[] = [];
    const began = performance.now();
    for (let n = 0; n < count && !enough(); n++) {
      const due = began + n * WRITE_EVERY_MS;
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      under.push(this.#write(n).then(() => void times.push(performance.now() - due)));
    }
    await Promise.all(under);
    return times;
  }

  /** Whether they were first in line, the last time. */
  get wereFirst(): boolean {
    return this.#first;
  }

  async close(): Promise<void> {
    await this.#cluster.each(CLIENTS, (n) => this.#cluster.delete(CONFIG_MAP, nameOf(n), 'Background'));
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  async #write(n: number): Promise<void> {
    // Another value each time: what changes nothing is not written.
    const body = { metadata: { annotations: { written: String(this.#written++) } } };
    const ref = refTo(CONFIG_MAP, nameOf(n % CLIENTS));
    await this.#clients[n % CLIENTS]!.patch(ref, { type: 'application/merge-patch+json', body });
  }
}

function nameOf(n: number): string {
  return `other-${n}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
