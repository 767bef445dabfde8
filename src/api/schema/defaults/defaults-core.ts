import { copyJson, setKey } from '../../codec/json/json-value.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, isEmptyMap, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';
import { defaultResourceList, fillResourceList } from './defaults-resources.ts';

/** Every namespace has its name as a label and is Active (API-300). */
export function defaultNamespace(namespace: Fields): void {
  const metadata = ensureObjectAt(namespace, 'metadata');
  if (typeof metadata['name'] === 'string' && metadata['name'] !== '') {
    ensureObjectAt(metadata, 'labels')['kubernetes.io/metadata.name'] = metadata['name'];
  }
  setIfZero(ensureObjectAt(namespace, 'status'), 'phase', 'Active');
}

export function defaultNode(node: Fields): void {
  const status = objectAt(node, 'status');
  if (status === undefined) return;
  defaultResourceList(status, 'capacity');
  defaultResourceList(status, 'allocatable');
  if (isEmptyMap(status['allocatable']) && !isEmptyMap(status['capacity'])) {
    status['allocatable'] = copyJson(status['capacity']);
  }
}

/** `stringData` is write-only: it overrides `data` and is never stored. */
export function defaultSecret(secret: Fields): void {
  setIfZero(secret, 'type', 'Opaque');
  const texts = objectAt(secret, 'stringData');
  if (texts !== undefined && !isEmptyMap(texts)) {
    const data = ensureObjectAt(secret, 'data');
    for (const [key, text] of Object.entries(texts)) {
      setKey(data, key, Buffer.from(String(text), 'utf8').toString('base64'));
    }
  }
  delete secret['stringData'];
}

export function defaultLimitRange(limitRange: Fields): void {
  for (const item of objectsAt(objectAt(limitRange, 'spec'), 'limits')) {
    for (const field of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']) {
      defaultResourceList(item, field);
    }
    if (item['type'] === 'Container') defaultContainerLimits(item);
  }
}

/** A missing default is the max; a missing defaultRequest is the default, or else the min. */
function defaultContainerLimits(item: Fields): void {
  const limit = { ...objectAt(item, 'default') };
  fillResourceList(limit, objectAt(item, 'max'));
  const request = { ...objectAt(item, 'defaultRequest') };
  fillResourceList(request, limit);
  fillResourceList(request, objectAt(item, 'min'));
  if (!isEmptyMap(limit)) item['default'] = limit;
  if (!isEmptyMap(request)) item['defaultRequest'] = request;
}

export function defaultResourceQuota(quota: Fields): void {
  defaultResourceList(objectAt(quota, 'spec'), 'hard');
  defaultResourceList(objectAt(quota, 'status'), 'hard');
  defaultResourceList(objectAt(quota, 'status'), 'used');
}

export function defaultPriorityClass(priorityClass: Fields): void {
  setIfUnset(priorityClass, 'preemptionPolicy', 'PreemptLowerPriority');
}

export function defaultRuntimeClass(runtimeClass: Fields): void {
  defaultResourceList(objectAt(runtimeClass, 'overhead'), 'podFixed');
}
