import { TransportError } from '../../../src/client/http/transport.ts';

/** Whether the server is there. Whoever it leaves without an answer gets none from the one that comes back either. */
export class ServerPresence {
  #stay: Stay | undefined = new Stay();

  leave(): void {
    this.#stay?.end();
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

/** From one start of the server to its end: what connects to it lasts no longer. */
export class Stay {
  #over = false;
  readonly #atEnd = new Set<() => void>();

  end(): void {
    this.#over = true;
    for (const listener of this.#atEnd) listener();
    this.#atEnd.clear();
  }

  /** Returns how not to be told. */
  onEnd(listener: () => void): () => void {
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
