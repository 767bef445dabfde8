import { compareQuantities, formatQuantity, type Quantity, quantityAsNumber } from '../../../api/quantity.ts';
import { podResources } from '../../../api/quota/pod-resources.ts';
import { parseResourceList, type ResourceList } from '../../../api/quota/resource-list.ts';
import type { PodSpec } from './pod-object.ts';

/** One item of a LimitRange. */
export interface Limit {
  readonly type: string;
  readonly min: ResourceList;
  readonly max: ResourceList;
  readonly maxLimitRequestRatio: ResourceList;
  readonly defaults: Readonly<Record<string, string>>;
  readonly defaultRequests: Readonly<Record<string, string>>;
}

interface Usage {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

/** The violations of limits by a pod, in upstream's words (`plugin/pkg/admission/limitranger`). */
export function podLimitProblems(limits: readonly Limit[], spec: PodSpec): readonly string[] {
  return limits.flatMap((limit) => {
    if (limit.type === 'Pod') {
      return problems(limit, { requests: podResources(spec, 'requests'), limits: podResources(spec, 'limits') });
    }
    if (limit.type !== 'Container') return [];
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      problems(limit, {
        requests: parseResourceList(resources?.requests),
        limits: parseResourceList(resources?.limits),
      }),
    );
  });
}

/** The same for the storage request of a claim, which has no limits. */
export function claimLimitProblems(limits: readonly Limit[], requested: unknown): readonly string[] {
  const requests = parseResourceList(requested);
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...entries(min).flatMap(([name, least]) => belowMinimum({ type, name, least }, { requests, limits: new Map() })),
      ...entries(max).flatMap(([name, most]) => requestAboveMaximum({ type, name, most }, requests)),
    ]);
}

function problems({ type, min, max, maxLimitRequestRatio }: Limit, usage: Usage): string[] {
  return [
    ...entries(min).flatMap(([name, least]) => belowMinimum({ type, name, least }, usage)),
    ...entries(max).flatMap(([name, most]) => aboveMaximum({ type, name, most }, usage)),
    ...entries(maxLimitRequestRatio).flatMap(([name, most]) => aboveRatio({ type, name, most }, usage)),
  ];
}

function entries(list: ResourceList): [string, Quantity][] {
  return [...list].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

interface Minimum {
  readonly type: string;
  readonly name: string;
  readonly least: Quantity;
}

interface Maximum {
  readonly type: string;
  readonly name: string;
  readonly most: Quantity;
}

function belowMinimum({ type, name, least }: Minimum, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (request === undefined) return [`${rule}.  No request is specified`];
  if (compareQuantities(request, least) < 0) return [`${rule}, but request is ${formatQuantity(request)}`];
  if (limit !== undefined && compareQuantities(limit, least) < 0)
    return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return [];
}

function aboveMaximum({ type, name, most }: Maximum, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (limit === undefined) return [`${rule}.  No limit is specified`];
  if (compareQuantities(limit, most) > 0) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  if (request !== undefined && compareQuantities(request, most) > 0) {
    return [`${rule}, but request is ${formatQuantity(request)}`];
  }
  return [];
}

function requestAboveMaximum({ type, name, most }: Maximum, requests: ResourceList): string[] {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (request === undefined) return [`${rule}.  No request is specified`];
  return compareQuantities(request, most) > 0 ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
}

function aboveRatio({ type, name, most }: Maximum, { requests, limits }: Usage): string[] {
  const [request, limit] = [requests.get(name), limits.get(name)];
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  if (request === undefined || request.unscaled === 0n) return [`${rule}, but no request is specified or request is 0`];
  if (limit === undefined || limit.unscaled === 0n) return [`${rule}, but no limit is specified or limit is 0`];
  const ratio = quantityAsNumber(limit) / quantityAsNumber(request);
  return ratio > quantityAsNumber(most) ? [`${rule}, but provided ratio is ${ratio.toFixed(6)}`] : [];
}
