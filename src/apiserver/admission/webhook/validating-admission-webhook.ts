import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { AdmissionPlugin } from '../chain/admission-chain.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { VersionedObjects } from './admission-review.ts';
import { versionedObjects } from './versioned-objects.ts';
import { isExempt, type PlannedCall, type Versioned, type WebhookDispatch } from './webhook-dispatch.ts';
import type { WebhookSource } from './webhook-source.ts';

/** Calls all validating webhooks of a request at once. The first refusal in their order is the answer (API-355). */
export class ValidatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook';
  readonly #source: WebhookSource;
  readonly #dispatch: WebhookDispatch;

  constructor(source: WebhookSource, dispatch: WebhookDispatch) {
    this.#source = source;
    this.#dispatch = dispatch;
  }

  start(): Promise<void> {
    return this.#source.start();
  }

  stop(): void {
    this.#source.stop();
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    const hooks = this.#source.webhooks();
    return hooks.length === 0 || isExempt(attributes) ? undefined : this.#validate(attributes);
  }

  async #validate(attributes: AdmissionAttributes): Promise<void> {
    const known = new Map<string, Promise<VersionedObjects>>();
    const versioned: Versioned = ({ kind }) => {
      const key = `${apiVersionOf(kind)}/${kind.kind}`;
      let objects = known.get(key);
      if (objects === undefined) {
        objects = versionedObjects(attributes, kind);
        known.set(key, objects);
      }
      return objects;
    };
    const calls: PlannedCall[] = [];
    for (const accessor of this.#source.webhooks()) {
      const call = await this.#dispatch.plan({ accessor, index: calls.length }, attributes, versioned);
      if (call !== undefined) calls.push(call);
    }
    // Waits for all, so that no call is in progress when the request is answered.
    const outcomes = await Promise.allSettled(
      calls.map(async (call) => this.#dispatch.call(call, attributes, await versioned(call.invocation))),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }
}
