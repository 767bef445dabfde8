import { copyJson, getKey, isJsonObject, setKey } from '../codec/json/json-value.ts';

/**
 * JSON Merge Patch (RFC 7396, API-193): objects merge key by key, null deletes, everything else replaces. The result
 * shares nothing with the document or the patch, so it may be changed in place afterwards.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return copyJson(patch);
  const target = isJsonObject(document) ? document : {};
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(target)) {
    if (!Object.hasOwn(patch, key)) setKey(result, key, copyJson(target[key]));
    else if (patch[key] !== null) setKey(result, key, applyMergePatch(target[key], patch[key]));
  }
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || Object.hasOwn(target, key)) continue;
    setKey(result, key, applyMergePatch(getKey(target, key), patch[key]));
  }
  return result;
}
