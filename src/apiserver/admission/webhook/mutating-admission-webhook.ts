import { foundName } from '../../../api/schema/decoding/decode-problem.ts';
import { messageOf } from '../../../base/errors/thrown.ts';
import { copyJson, equalJson, isJsonObject } from '../../../api/codec/json/json-value.ts';
import { parseJsonText } from '../../../api/codec/json/json.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { jsonPatchSteps } from '../../../api/patch/json-patch.ts';
import { newInternalError, StatusError } from '../../../api/status-error.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { inTurns } from '../../../base/time/steps.ts';
import type { AdmissionPlugin } from '../chain/admission-chain.ts';
import { type AdmissionAttributes, replaceContent } from '../chain/attributes.ts';
import type { ReviewPatch, VersionedObjects } from './admission-review.ts';
import { versionedObjects } from './versioned-objects.ts';
import { isExempt, placeOf, type PlannedCall, type Versioned, type WebhookDispatch } from './webhook-dispatch.ts';
import { callFailed } from './webhook-errors.ts';
import { WebhookReinvocation } from './webhook-reinvocation.ts';
import type { WebhookSource } from './webhook-source.ts';

/** Calls the mutating webhooks of a request one after the other and applies their patches (API-355). */
export class MutatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionWebhook';
  readonly #source: WebhookSource;
  readonly #dispatch: WebhookDispatch;
  readonly #clock: Pick<Clock, 'defer'>;

  constructor(source: WebhookSource, dispatch: WebhookDispatch, clock: Pick<Clock, 'defer'>) {
    this.#source = source;
    this.#dispatch = dispatch;
    this.#clock = clock;
  }

  start(): Promise<void> {
    return this.#source.start();
  }

  stop(): void {
    this.#source.stop();
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    const hooks = this.#source.webhooks();
    return hooks.length === 0 || isExempt(attributes) ? undefined : this.#admit(attributes);
  }

  async #admit(attributes: AdmissionAttributes): Promise<void> {
    const { reinvocation, object } = attributes;
    const again = reinvocation.stateOf(this.name, () => new WebhookReinvocation());
    const second = reinvocation.round === 'second';
    // Earlier plug-ins have changed the object again, so every webhook with reinvocationPolicy IfNeeded is called again.
    if (second && again.differs(object)) again.require();
    for (const [index, accessor] of this.#source.webhooks().entries()) {
      const versioned: Versioned = ({ kind }) => versionedObjects(attributes, kind);
      const call = await this.#dispatch.plan({ accessor, index }, attributes, versioned);
      if (call === undefined) continue;
      // A webhook that was not called in the first run is not called in the second.
      if (second && !again.isRequired(accessor.uid)) continue;
      const changed = await this.#callOne(call, attributes);
      const { configuration, hook } = accessor;
      const mutation = JSON.stringify({ configuration, webhook: hook.name, mutated: changed });
      attributes.annotate(`mutation.webhook.admission.k8s.io/${placeOf(attributes, index)}`, mutation);
      if (changed) {
        again.require();
        reinvocation.request();
      }
      if (accessor.hook.reinvocationPolicy === 'IfNeeded') again.called(accessor.uid);
    }
    again.left(object);
  }

  /** Returns whether the object changed. */
  async #callOne(call: PlannedCall, attributes: AdmissionAttributes): Promise<boolean> {
    const objects = await versionedObjects(attributes, call.invocation.kind);
    const response = await this.#dispatch.call(call, attributes, objects);
    if (response?.patch === undefined) return false;
    return this.#patch(call, attributes, { objects, patch: response.patch });
  }

  async #patch(
    { accessor, invocation }: PlannedCall,
    { object, kind, interfaces }: AdmissionAttributes,
    { objects, patch: { text, type } }: { readonly objects: VersionedObjects; readonly patch: ReviewPatch },
  ): Promise<boolean> {
    const { name, failurePolicy } = accessor.hook;
    const operations = operationsOf(text);
    if ('why' in operations) {
      if (failurePolicy === 'Ignore') return false;
      throw callFailed(name, `received undecodable patch in webhook response: ${operations.why}`);
    }
    if (operations.list.length === 0) return false;
    if (object === undefined || objects.object === undefined) {
      const why = 'attempted to modify the object, which is not supported for this operation';
      throw newInternalError(`admission webhook ${quoted(name)} ${why}`);
    }
    if (type !== 'JSONPatch') {
      if (failurePolicy === 'Ignore') return false;
      throw callFailed(name, `unsupported patch type ${quoted(type)}`);
    }
    const before = objects.object;
    const patched = await readPatched(async () => {
      // The size of the answer bounds the number of operations, as in kube-apiserver.
      const tree = await inTurns(this.#clock, jsonPatchSteps(before, operations.list, Infinity));
      if (!isObjectOf(tree, before)) throw newInternalError('the patch leaves no object of its kind');
      return interfaces.decode(tree, invocation.kind);
    });
    if (equalJson(before, patched)) return false;
    replaceContent(object, copyJson(await interfaces.convert(patched, kind)));
    return true;
  }
}

function isObjectOf(tree: unknown, { apiVersion, kind }: KubeObject): tree is KubeObject {
  return isJsonObject(tree) && tree['apiVersion'] === apiVersion && tree['kind'] === kind;
}

/** The list of operations, or Go's error for a malformed text. */
function operationsOf(patch: string): { readonly list: readonly unknown[] } | { readonly why: string } {
  let list: unknown;
  try {
    list = parseJsonText(patch);
  } catch (error) {
    return { why: messageOf(error) };
  }
  if (list === null) return { list: [] };
  if (!Array.isArray(list)) return { why: notOfType(list, 'jsonpatch.Patch') };
  const foreign = list.find((operation) => operation !== null && !isJsonObject(operation)) as unknown;
  return foreign === undefined ? { list } : { why: notOfType(foreign, 'jsonpatch.Operation') };
}

function notOfType(value: unknown, type: string): string {
  return `json: cannot unmarshal ${foundName(value)} into Go value of type ${type}`;
}

/**
 * A patch that does not apply, or whose result is not an object of the kind, is a fault of the webhook and not of the client. It is not a
 * failed call either, so no failurePolicy ignores it.
 */
async function readPatched(patched: () => Promise<KubeObject>): Promise<KubeObject> {
  try {
    return await patched();
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === 500) throw error;
    throw newInternalError(typeof error.cause === 'string' ? error.cause : error.message);
  }
}
