import { isJsonObject } from '../../api/codec/json-value.ts';
import { decodeUtf8, duplicateFieldsOf, parseJsonText } from '../../api/codec/json.ts';
import { foundName } from '../../api/schema/decode-problem.ts';
import { newBadRequest, StatusError } from '../../api/status-error.ts';
import type { RequestContext } from './request-context.ts';

/** Media type of an apply configuration, whose text may be JSON (API-190, API-210). */
export const APPLY_PATCH = 'application/apply-patch+yaml';

export interface Configuration {
  readonly config: Record<string, unknown>;
  /** Keys that occur twice, in words. */
  readonly problems: readonly string[];
}

/** The body of an apply. The YAML reader is loaded for the first one that is no JSON: kubectl sends JSON. */
export async function readConfiguration(context: RequestContext): Promise<Configuration> {
  const text = decodeUtf8(context.request.body ?? new Uint8Array(0));
  const { value, duplicates } = jsonValue(text) ?? (await yamlValue(text));
  if (value !== null && !isJsonObject(value)) {
    const target = 'Go value of type map[string]interface {}';
    throw newBadRequest(`error decoding YAML: json: cannot unmarshal ${foundName(value)} into ${target}`);
  }
  return { config: value ?? {}, problems: duplicates.map((path) => `key ${JSON.stringify(path)} already set in map`) };
}

interface ReadValue {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

function jsonValue(text: string): ReadValue | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value = parseJsonText(text);
    return { value, duplicates: duplicateFieldsOf(text, value) };
  } catch (error) {
    // A mapping in flow style begins like JSON.
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

async function yamlValue(text: string): Promise<ReadValue> {
  const { parseYamlStrict } = await import('../../api/codec/yaml.ts');
  try {
    return parseYamlStrict(text);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw newBadRequest(`error decoding YAML: ${error.message}`);
  }
}
