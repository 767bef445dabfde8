import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { parseResourceList } from '../../../api/quota/resource-list.ts';
import { aggregated } from '../../authorization/rule-coverage.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import { ByNamespace } from './by-namespace.ts';
import { claimLimitProblems, type Limit, podLimitProblems } from './limit-constraints.ts';
import { type Container, type Pod, podSpecOf } from './pod-object.ts';
import type { TableEnvironment } from './table-environment.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

interface Claim extends KubeObject {
  spec?: { resources?: { requests?: unknown } };
}

/** Applies the defaults and limits of a namespace's LimitRanges to its pods and claims. */
export class LimitRanger implements AdmissionPlugin {
  readonly name = 'LimitRanger';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #ranges: ByNamespace<readonly Limit[]>;

  constructor(environment: TableEnvironment) {
    this.#ranges = new ByNamespace(environment, 'limitranges', limitsOf);
  }

  start(): Promise<void> {
    return this.#ranges.start();
  }

  stop(): void {
    this.#ranges.stop();
  }

  admit(attributes: AdmissionAttributes): void {
    const { namespace, operation, object } = attributes;
    const ranges = this.#ranges.in(namespace);
    if (ranges.size === 0 || object === undefined || operation !== 'CREATE' || limitedPart(attributes) !== 'pod')
      return;
    for (const limits of ranges.values()) fillIn(object as Pod, limits);
  }

  validate(attributes: AdmissionAttributes): void {
    const { namespace, object, oldObject } = attributes;
    const ranges = this.#ranges.in(namespace);
    if (ranges.size === 0 || object === undefined) return;
    const part = limitedPart(attributes);
    // Exempts an object that is being deleted, because its update may only remove finalizers.
    if (part === undefined || oldObject?.metadata?.deletionTimestamp) return;
    for (const limits of ranges.values()) {
      const problems =
        part === 'pod'
          ? podLimitProblems(limits, podSpecOf(object as Pod))
          : claimLimitProblems(limits, (object as Claim).spec?.resources?.requests);
      if (problems.length > 0) throw admissionForbidden(attributes, aggregated(problems));
    }
  }
}

/** Pods are checked on create and resize, claims at every write. */
function limitedPart({ info, operation, subresource }: AdmissionAttributes): 'pod' | 'claim' | undefined {
  if (info.group !== '') return undefined;
  if (info.resource === 'persistentvolumeclaims') return subresource === '' ? 'claim' : undefined;
  if (info.resource !== 'pods') return undefined;
  return subresource === (operation === 'CREATE' ? '' : 'resize') ? 'pod' : undefined;
}

function limitsOf({ spec }: KubeObject): readonly Limit[] {
  // Go writes an absent list as null.
  const { limits } = (spec ?? {}) as { limits?: readonly Record<string, unknown>[] | null };
  return (limits ?? []).map((limit) => ({
    type: String(limit['type']),
    min: parseResourceList(limit['min']),
    max: parseResourceList(limit['max']),
    maxLimitRequestRatio: parseResourceList(limit['maxLimitRequestRatio']),
    defaults: textsOf(limit['default']),
    defaultRequests: textsOf(limit['defaultRequest']),
  }));
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
}

/** Sets the resources that containers leave out, and lists them in an annotation. */
function fillIn(pod: Pod, limits: readonly Limit[]): void {
  const ofContainers = limits.filter(({ type }) => type === 'Container');
  const requests = Object.assign({}, ...ofContainers.map((limit) => limit.defaultRequests)) as Record<string, string>;
  const defaults = Object.assign({}, ...ofContainers.map((limit) => limit.defaults)) as Record<string, string>;
  const spec = podSpecOf(pod);
  const done = [
    ...(spec.containers ?? []).flatMap((container) => fillContainer(container, 'container', { requests, defaults })),
    ...(spec.initContainers ?? []).flatMap((container) =>
      fillContainer(container, 'init container', { requests, defaults }),
    ),
  ];
  if (done.length === 0) return;
  const meta = (pod.metadata ??= {});
  meta.annotations = { ...meta.annotations, [ANNOTATION]: `LimitRanger plugin set: ${done.join('; ')}` };
}

function fillContainer(
  container: Container,
  word: string,
  { requests, defaults }: { readonly requests: Record<string, string>; readonly defaults: Record<string, string> },
): string[] {
  const given = container.resources ?? {};
  const missing = (wanted: object, there: object = {}): string[] =>
    Object.keys(wanted)
      .filter((name) => !Object.hasOwn(there, name))
      .toSorted();
  const [newRequests, newLimits] = [missing(requests, given.requests), missing(defaults, given.limits)];
  if (newRequests.length === 0 && newLimits.length === 0) return [];
  container.resources = {
    ...given,
    ...(newLimits.length === 0 ? {} : { limits: { ...defaults, ...given.limits } }),
    ...(newRequests.length === 0 ? {} : { requests: { ...requests, ...given.requests } }),
  };
  return [
    ...(newRequests.length === 0 ? [] : [`${newRequests.join(', ')} request for ${word} ${container.name ?? ''}`]),
    ...(newLimits.length === 0 ? [] : [`${newLimits.join(', ')} limit for ${word} ${container.name ?? ''}`]),
  ];
}
