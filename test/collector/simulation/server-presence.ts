import { TransportError } from '../../../src/client/http/transport.ts';

/** Whether the server is there. Whoever it leaves without an answer gets none from the one that comes back either. */
export class ServerPresence {
  #stay: Stay | undefined = new Stay();

  /** `remains`: asked for each open watch of a process; true if it stays open at the server that left, and hears of nothing any more. */
  leave(remains: Remains = () => false): void {
    this.#stay?.end(remains);
    this.#stay = undefined;
  }

  comeBack(): void {
    this.#stay ??= new Stay();
  }

  /** Throws while it is away. */
  connect(): Stay {
    if (this.#stay === undefined) throw new TransportError('refused', 'connection refused');
    return this.#stay;
  }
}

type Remains = (process: object) => boolean;

/** One run of the server, from its start until it stops: its connections last no longer. */
export class Stay {
  #over = false;
  readonly #atEnd = new Set<(remains: Remains) => void>();

  end(remains: Remains): void {
    this.#over = true;
    for (const listener of this.#atEnd) listener(remains);
    this.#atEnd.clear();
  }

  /** Returns a function that removes the listener. */
  onEnd(listener: (remains: Remains) => void): () => void {
    this.#atEnd.add(listener);
    return () => void this.#atEnd.delete(listener);
  }

  mustLast(): void {
    if (this.#over) throw broken();
  }

  /** The outcome of an exchange, or that there is none, as soon as that is so. */
  carry<T>(exchange: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const letGo = this.onEnd(() => reject(broken()));
      exchange.then(resolve, reject).finally(letGo);
    });
  }
}

function broken(): TransportError {
  return new TransportError('reset', 'connection reset by peer');
}
