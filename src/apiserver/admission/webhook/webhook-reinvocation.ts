import { copyJson, equalJson } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';

/** Decides which webhooks of one write are called a second time (`webhook/mutating/reinvocationcontext.go`). */
export class WebhookReinvocation {
  #previous: KubeObject | undefined;
  /** Webhooks that were called, have reinvocationPolicy IfNeeded, and have not seen the latest change. */
  readonly #waiting = new Set<string>();
  readonly #required = new Set<string>();

  called(uid: string): void {
    this.#waiting.add(uid);
  }

  /** The object has changed, so webhooks that were called before the change are called again. */
  require(): void {
    for (const uid of this.#waiting) this.#required.add(uid);
    this.#waiting.clear();
  }

  isRequired(uid: string): boolean {
    return this.#required.has(uid);
  }

  /** Records the object as the webhooks left it. */
  left(object: KubeObject | undefined): void {
    this.#previous = object === undefined ? undefined : copyJson(object);
  }

  differs(object: KubeObject | undefined): boolean {
    return !equalJson(this.#previous, object);
  }
}
