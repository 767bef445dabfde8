import type { Random } from '../../../../src/base/random/random.ts';
import type { Greeting, HttpRequest } from '../../../../src/base/http-message.ts';
import type { Send } from '../../../../src/client/rest/interceptor.ts';
import type { Cluster, Lies } from './lies.ts';

/** One connection of a process. */
export interface Connection {
  readonly leadsTo: Cluster;
  /** It was opened while a lie lasted. */
  readonly lied: boolean;
  readonly greeted: Set<Greeting>;
  open: boolean;
}

/**
 * The connections of one process: over HTTP/2 one for all requests, over HTTP/1.1 one for each watch and one for the rest. Each new one is
 * greeted, as a transport does it.
 */
export class Connections {
  readonly #lies: Lies;
  readonly #random: Random;
  readonly #shared: boolean;
  #kept: Connection | undefined;
  /** One of them has been greeted. */
  hasGreeted = false;

  constructor(lies: Lies, random: Random) {
    this.#lies = lies;
    this.#random = random;
    this.#shared = random.integer(2) === 0;
  }

  /** A connection for this request, after its greeting. */
  async take(request: HttpRequest, send: (connection: Connection) => Send): Promise<Connection> {
    const ofItsOwn = !this.#shared && request.target.includes('watch=true');
    const connection = ofItsOwn ? this.#opened() : this.#keptOne();
    const { greeting } = request;
    if (greeting === undefined || connection.greeted.has(greeting)) return connection;
    try {
      await greeting.greet(send(connection));
    } catch (error) {
      connection.open = false;
      throw error;
    }
    connection.greeted.add(greeting);
    this.hasGreeted = true;
    return connection;
  }

  /** The one that is kept for more than one request breaks. */
  break(which: 'all' | 'half' | 'none'): void {
    const breaks = which === 'all' || (which === 'half' && this.#random.integer(2) === 0);
    if (this.#kept !== undefined && breaks) this.#kept.open = false;
  }

  #keptOne(): Connection {
    if (this.#kept?.open !== true) this.#kept = this.#opened();
    return this.#kept;
  }

  #opened(): Connection {
    return { leadsTo: this.#lies.leadsTo, lied: this.#lies.lasts, greeted: new Set(), open: true };
  }
}
