import { append } from '../../base/collections/append.ts';
import { apiVersionOf, type GroupVersion, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { newUntypedInternal, type StatusError } from '../../api/status-error.ts';
import type { Random } from '../../base/random/random.ts';
import { WebhookCallError } from '../webhook-client/webhook-call-error.ts';
import type { WebhookClient } from '../webhook-client/webhook-client.ts';
import type { WebhookConversion } from './definition.ts';
import {
  ConversionAnswerError,
  conversionReview,
  conversionReviewVersion,
  convertedObjects,
} from './conversion-review.ts';

export interface WebhookConverterOptions {
  readonly client: WebhookClient;
  readonly random: Random;
  readonly conversion: WebhookConversion;
}

/** The timeout of one call, as in upstream's webhook client. */
const TIMEOUT_MS = 30_000;
/** Maximum number of objects in one call. A longer list is converted in several calls, one after the other. */
const MAX_BATCH = 500;
/** Maximum size of an answer: a batch of objects, each of which may be as large as a request. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Converts objects of one definition between its versions by asking its webhook (API-464). */
export class WebhookConverter {
  readonly #options: WebhookConverterOptions;

  constructor(options: WebhookConverterOptions) {
    this.#options = options;
  }

  /** Converts in order; objects in the desired version are not sent. Rejects with a 500 without a reason. */
  async convert(objects: readonly KubeObject[], desired: GroupVersion): Promise<readonly KubeObject[]> {
    const wanted = apiVersionOf(desired);
    const others = objects.filter(({ apiVersion }) => apiVersion !== wanted);
    const converted: KubeObject[] = [];
    for (let start = 0; start < others.length; start += MAX_BATCH) {
      append(converted, await this.#ask(others.slice(start, start + MAX_BATCH), desired));
    }
    const next = converted[Symbol.iterator]();
    return objects.map((object) => (object.apiVersion === wanted ? object : (next.next().value ?? object)));
  }

  async #ask(objects: readonly KubeObject[], desired: GroupVersion): Promise<readonly KubeObject[]> {
    const { client, random, conversion } = this.#options;
    const version = conversionReviewVersion(conversion.conversionReviewVersions ?? []);
    if (version === undefined) throw newUntypedInternal('no supported conversion review versions');
    const request = { uid: random.uuid(), desired, objects };
    const call = { timeoutMs: TIMEOUT_MS, announceTimeout: false, maxAnswerBytes: MAX_ANSWER_BYTES };
    try {
      const answer = await client.post(conversion.clientConfig ?? {}, {
        body: conversionReview(version, request),
        ...call,
      });
      return convertedObjects(answer, version, request);
    } catch (error) {
      if (error instanceof WebhookCallError) throw conversionError(objects, `failed: ${error.message}`);
      if (error instanceof ConversionAnswerError) throw conversionError(objects, error.message);
      throw error;
    }
  }
}

/** The error, named after the kind to convert. */
function conversionError([first]: readonly KubeObject[], why: string): StatusError {
  const { group, version } = parseGroupVersion(first?.apiVersion ?? '') ?? { group: '', version: '' };
  return newUntypedInternal(`conversion webhook for ${group}/${version}, Kind=${first?.kind ?? ''} ${why}`);
}
