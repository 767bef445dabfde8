import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import { newForbidden, newTimeout, StatusError } from '../../../api/status-error.ts';
import { WebhookCallError } from '../../webhook-client/webhook-call-error.ts';
import type { WebhookClient } from '../../webhook-client/webhook-client.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import { type Invocation, matchRequest } from '../matching/match-resources.ts';
import type { NamespaceReader } from '../matching/namespace-reader.ts';
import {
  admissionReview,
  type ReviewResponse,
  reviewVersion,
  type VersionedObjects,
  verifyReview,
} from './admission-review.ts';
import type { WebhookType } from './configuration.ts';
import type { MatchConditions } from './match-conditions.ts';
import { callFailed, deniedBy, dryRunUnsupported } from './webhook-errors.ts';
import type { ObservedCall, WebhookMetrics } from './webhook-metrics.ts';
import type { WebhookAccessor } from './webhook-source.ts';

/** Maximum size of an answer: a patch may replace a whole request, and base64 adds a third. */
const MAX_ADMISSION_ANSWER_BYTES = 8 * 1024 * 1024;
/** The timeout of a webhook that sets none. The kind's defaults always set one (API-354). */
const DEFAULT_TIMEOUT_SECONDS = 10;

export interface DispatchEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly client: WebhookClient;
  readonly namespaces: NamespaceReader;
  readonly conditions: MatchConditions;
  readonly metrics: WebhookMetrics;
}

/** Kinds that configure admission. If webhooks were called for them, a broken webhook could never be removed (API-355). */
const EXEMPT_KINDS: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

export function isExempt({ kind }: AdmissionAttributes): boolean {
  return kind.group === 'admissionregistration.k8s.io' && EXEMPT_KINDS.has(kind.kind);
}

/** One webhook that is to be called for a request, with the version for the call. */
export interface PlannedCall {
  readonly accessor: WebhookAccessor;
  readonly invocation: Invocation;
  /** The webhook's index among the mutating webhooks, or among the validating ones for this request, as upstream counts. */
  readonly index: number;
}

const FAILED_OPEN = {
  mutating: 'failed-open.mutation.webhook.admission.k8s.io/',
  validating: 'failed-open.validating.webhook.admission.k8s.io/',
} as const satisfies Record<WebhookType, string>;

/** The name of a call in annotations. */
export function placeOf({ reinvocation }: AdmissionAttributes, index: number): string {
  return `round_${reinvocation.round === 'first' ? 0 : 1}_index_${index}`;
}

/** The request's objects in the version that a webhook accepts. */
export type Versioned = (invocation: Invocation) => Promise<VersionedObjects>;

/** The common part of both webhook plug-ins: it selects the webhooks and evaluates their answers (`webhook/generic`). */
export class WebhookDispatch {
  readonly #environment: DispatchEnvironment;
  readonly #type: WebhookType;

  constructor(environment: DispatchEnvironment, type: WebhookType) {
    this.#environment = environment;
    this.#type = type;
  }

  /** Undefined if this webhook is not called. Throws a 403 if its conditions fail and its failure policy is Fail. */
  async plan(
    { accessor, index }: Omit<PlannedCall, 'invocation'>,
    attributes: AdmissionAttributes,
    versioned: Versioned,
  ): Promise<PlannedCall | undefined> {
    const { namespaces, conditions } = this.#environment;
    const invocation = await matchRequest(accessor.match, attributes, namespaces);
    if (invocation === undefined) return undefined;
    const { matchConditions = [], failurePolicy } = accessor.hook;
    if (matchConditions.length > 0) {
      const objects = await versioned(invocation);
      const outcome = await conditions.evaluate(matchConditions, { attributes, invocation, ...objects });
      if (outcome.outcome === 'excluded') return undefined;
      if (outcome.outcome === 'failed') {
        if (failurePolicy === 'Ignore') return undefined;
        throw newForbidden(attributes.info, attributes.name, outcome.message);
      }
    }
    return { accessor, invocation, index };
  }

  /**
   * The answer of a webhook that allows; undefined if the call failed and its failure policy is Ignore. Throws a denial, and any other
   * failure.
   */
  async call(
    { accessor, invocation, index }: PlannedCall,
    attributes: AdmissionAttributes,
    objects: VersionedObjects,
  ): Promise<ReviewResponse | undefined> {
    const { clock, metrics } = this.#environment;
    const { hook } = accessor;
    const observed: ObservedCall = {
      name: hook.name,
      type: this.#type === 'mutating' ? 'admit' : 'validating',
      operation: attributes.operation,
    };
    if (attributes.dryRun && hook.sideEffects !== 'None' && hook.sideEffects !== 'NoneOnDryRun') {
      throw dryRunUnsupported(hook.name);
    }
    const started = clock.monotonic();
    const observe = (rejected: boolean): void =>
      metrics.observe(observed, { seconds: (clock.monotonic() - started) / 1000, rejected });
    let response: ReviewResponse;
    try {
      response = await this.#ask(accessor, { invocation, attributes, objects });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const passedOver = hook.failurePolicy === 'Ignore';
      observe(!passedOver);
      if (!passedOver) {
        metrics.rejected(observed, 'calling_webhook_error', error.code);
        throw error;
      }
      this.#passOver(observed, attributes, error);
      attributes.annotate(`${FAILED_OPEN[this.#type]}${placeOf(attributes, index)}`, hook.name);
      return undefined;
    }
    for (const warning of response.warnings) attributes.warn(warning);
    for (const [key, value] of Object.entries(response.auditAnnotations)) {
      attributes.annotate(`${hook.name}/${key}`, value);
    }
    observe(!response.allowed);
    if (response.allowed) return response;
    const denial = deniedBy(hook.name, response.result);
    metrics.rejected(observed, 'no_error', denial.code);
    throw denial;
  }

  /** Every error of the call or its answer becomes a StatusError. */
  async #ask({ hook }: WebhookAccessor, { invocation, attributes, objects }: Asked): Promise<ReviewResponse> {
    const { clock, random, client } = this.#environment;
    const version = reviewVersion(hook.admissionReviewVersions);
    if (version === undefined) {
      const why =
        'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)';
      throw callFailed(hook.name, why);
    }
    const left = attributes.deadline === undefined ? Infinity : attributes.deadline - clock.monotonic();
    if (left <= 0) throw expired();
    const timeoutMs = Math.min((hook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000, left);
    const uid = random.uuid();
    const body = admissionReview(version, { uid, attributes, invocation, ...objects });
    let answer: unknown;
    try {
      const limits = { timeoutMs, announceTimeout: true, maxAnswerBytes: MAX_ADMISSION_ANSWER_BYTES };
      answer = await client.post(hook.clientConfig, { body, ...limits });
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error;
      // The webhook's timeout was the rest of the request's. The clock cannot prove this, because a timer may fire early.
      const requestIsOver = error.failure === 'timeout' && timeoutMs === left;
      if (requestIsOver && hook.failurePolicy === 'Ignore') throw expired();
      throw callFailed(hook.name, `failed to call webhook: ${error.message}`);
    }
    const verified = verifyReview(answer, { version, uid, mutating: this.#type === 'mutating' });
    if (verified.outcome === 'response') return verified.response;
    throw callFailed(hook.name, `received invalid webhook response: ${verified.why}`);
  }

  #passOver(observed: ObservedCall, { deadline }: AdmissionAttributes, error: StatusError): void {
    const { clock, logger, metrics } = this.#environment;
    // The request has timed out, not only the webhook, so the caller no longer waits.
    if (error.reason === 'Timeout' || (deadline !== undefined && deadline <= clock.monotonic())) throw expired();
    metrics.failedOpen(observed);
    logger.warn('failed calling webhook, failing open', { webhook: observed.name, error: error.message });
  }
}

interface Asked {
  readonly invocation: Invocation;
  readonly attributes: AdmissionAttributes;
  readonly objects: VersionedObjects;
}

function expired(): StatusError {
  return newTimeout('request did not complete within requested timeout');
}
