import { boundTreeValues } from '../../../api/codec/json/body-values.ts';
import { scanRepeatedKeys } from '../../../api/codec/json/duplicate-fields.ts';
import { isJsonObject } from '../../../api/codec/json/json-value.ts';
import { decodeUtf8 } from '../../../api/codec/json/json.ts';
import { jsonTextSteps } from '../../../api/codec/json/json-steps.ts';
import { foundName } from '../../../api/schema/decoding/decode-problem.ts';
import { newBadRequest, StatusError } from '../../../api/status-error.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { inTurns, type Steps } from '../../../base/time/steps.ts';
import type { RepeatedKeys } from '../../registry/apply-object.ts';
import { betweenSteps, inTurnsIfLong } from '../../registry/long-work.ts';
import { repeatedKeys } from './decode-object.ts';
import type { RequestContext } from './request-context.ts';
import type { FieldValidation } from './write-options.ts';

/** The media type of an apply configuration, whose text may be JSON (API-190, API-210). */
export const APPLY_PATCH = 'application/apply-patch+yaml';

const TOO_LARGE = 413;

export interface Configuration {
  readonly config: Record<string, unknown>;
  /** `line 4: key "a" already set in map` for each repeated key of a mapping (API-235). */
  readonly problems: readonly string[];
}

/** The body of an apply. The YAML parser is loaded with the first body that is not JSON, because kubectl sends JSON. */
export async function readConfiguration(context: RequestContext, clock: Clock): Promise<Configuration> {
  const text = decodeUtf8(context.request.body ?? new Uint8Array(0));
  const { value, repeated } =
    (await inTurnsIfLong(clock, text.length, jsonValue(text))) ?? (await yamlValue(text, clock));
  let pause = betweenSteps(clock, text.length);
  if (pause !== undefined) await pause;
  boundTreeValues(value, text.length);
  pause = betweenSteps(clock, text.length);
  if (pause !== undefined) await pause;
  if (value !== null && !isJsonObject(value)) {
    const why = `json: cannot unmarshal ${foundName(value)} into Go value of type map[string]interface {}`;
    throw newBadRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  return { config: value ?? {}, problems: repeated };
}

/** Repeated keys fail the request, cause warnings, or are ignored, according to fieldValidation (API-235). */
export function repeatedKeysOf({ problems }: Configuration, validation: FieldValidation): RepeatedKeys {
  if (problems.length === 0 || validation === 'Ignore') return { refusal: undefined, warnings: [] };
  if (validation === 'Warn') return { refusal: undefined, warnings: problems };
  const why = `error strict decoding YAML: error converting YAML to JSON: ${repeatedKeys(problems)}`;
  return { refusal: newBadRequest(why), warnings: [] };
}

interface ReadValue {
  readonly value: unknown;
  readonly repeated: readonly string[];
}

function* jsonValue(text: string): Steps<ReadValue | undefined> {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const { value, duplicates } = yield* jsonTextSteps(text);
    return { value, repeated: duplicates.length === 0 ? [] : scanRepeatedKeys(text) };
  } catch (error) {
    // A YAML mapping in flow style begins like JSON.
    if (error instanceof StatusError && error.code !== TOO_LARGE) return undefined;
    throw error;
  }
}

async function yamlValue(text: string, clock: Clock): Promise<ReadValue> {
  const { yamlSteps } = await import('../../../api/codec/yaml/yaml.ts');
  try {
    return await inTurns(clock, yamlSteps(text));
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === TOO_LARGE) throw error;
    throw newBadRequest(`error decoding YAML: ${error.message}`);
  }
}
