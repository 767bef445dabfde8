import { setKey } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface Secret extends KubeObject {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

/** `stringData` is write-only: its plain texts override `data`. */
export const secretStrategy: Strategy = {
  prepareForCreate: mergeStringData,
  prepareForUpdate: mergeStringData,
};

function mergeStringData(secret: Secret): void {
  const { stringData } = secret;
  if (stringData === undefined) return;
  const data = { ...secret.data };
  for (const [key, text] of Object.entries(stringData)) setKey(data, key, Buffer.from(text).toString('base64'));
  if (Object.keys(data).length > 0) secret.data = data;
  delete secret.stringData;
}
