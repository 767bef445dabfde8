import { copyJson, equalJson } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';

/** Which webhooks of one write are called a second time (`webhook/mutating/reinvocationcontext.go`). */
export class WebhookReinvocation {
  #previous: KubeObject | undefined;
  /** Called so far, want to be asked again, and have not seen the newest change. */
  readonly #waiting = new Set<string>();
  readonly #required = new Set<string>();

  called(uid: string): void {
    this.#waiting.add(uid);
  }

  /** The object has changed: webhooks that were called before the change are called again. */
  require(): void {
    for (const uid of this.#waiting) this.#required.add(uid);
    this.#waiting.clear();
  }

  isRequired(uid: string): boolean {
    return this.#required.has(uid);
  }

  /** The object as the webhooks leave it. */
  left(object: KubeObject | undefined): void {
    this.#previous = object === undefined ? undefined : copyJson(object);
  }

  differs(object: KubeObject | undefined): boolean {
    return !equalJson(this.#previous, object);
  }
}
