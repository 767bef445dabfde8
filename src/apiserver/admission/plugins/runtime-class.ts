import { getKey } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { parseResourceList, sameLists } from '../../../api/quota/resource-list.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import type { Store } from '../../storage/interface.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { objectKey, resourcePrefix } from '../../storage/storage-keys.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';
import { isOfPods, type Pod, podSpecOf, type PodSpec, type Toleration } from './pod-object.ts';
import type { TableEnvironment } from './table-environment.ts';

const CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses', namespaced: false };
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

interface RuntimeClassFacts {
  readonly overhead: Readonly<Record<string, string>> | undefined;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  readonly schedules: boolean;
}

/** Applies the RuntimeClass of a pod: its overhead, and its node selector and tolerations. */
export class RuntimeClass implements AdmissionPlugin {
  readonly name = 'RuntimeClass';
  readonly operations = ['CREATE'] as const;
  readonly #classes: LiveTable<RuntimeClassFacts>;
  readonly #store: Store;

  constructor(environment: TableEnvironment) {
    this.#store = environment.store;
    this.#classes = new LiveTable({ ...environment, prefix: resourcePrefix(CLASSES), read: factsOf });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  admit(attributes: AdmissionAttributes): void | Promise<void> {
    const { object } = attributes;
    if (!isOfPods(attributes) || object === undefined) return undefined;
    const spec = podSpecOf(object as Pod);
    return this.#withClass(attributes, spec, (facts) => {
      if (facts === undefined) return;
      setOverhead(attributes, spec, facts);
      setScheduling(attributes, spec, facts);
    });
  }

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { object } = attributes;
    if (!isOfPods(attributes) || object === undefined) return undefined;
    const spec = podSpecOf(object as Pod);
    return this.#withClass(attributes, spec, (facts) => {
      if (facts?.overhead !== undefined) {
        if (!sameOverhead(spec.overhead, facts.overhead)) throw admissionForbidden(attributes, MISMATCH);
      } else if (spec.overhead !== undefined) {
        const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
        throw admissionForbidden(attributes, why);
      }
    });
  }

  #withClass(
    attributes: AdmissionAttributes,
    { runtimeClassName }: PodSpec,
    act: (facts: RuntimeClassFacts | undefined) => void,
  ): void | Promise<void> {
    const known = runtimeClassName === undefined ? undefined : this.#classes.get(runtimeClassName);
    if (runtimeClassName === undefined || known !== undefined) {
      act(known);
      return undefined;
    }
    return this.#store.get(objectKey(CLASSES, '', runtimeClassName)).then(({ kv }) => {
      if (kv !== undefined) {
        act(factsOf(new StoredObject(kv).object()));
        return;
      }
      throw admissionForbidden(attributes, `pod rejected: RuntimeClass ${quoted(runtimeClassName)} not found`);
    });
  }
}

function factsOf(object: KubeObject): RuntimeClassFacts {
  const overhead = object['overhead'] as { podFixed?: Record<string, string> } | undefined;
  const scheduling = object['scheduling'] as
    | { nodeSelector?: Record<string, string>; tolerations?: readonly Toleration[] }
    | undefined;
  return {
    overhead: overhead === undefined ? undefined : (overhead.podFixed ?? {}),
    nodeSelector: scheduling?.nodeSelector ?? {},
    tolerations: scheduling?.tolerations ?? [],
    schedules: scheduling !== undefined,
  };
}

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, { overhead }: RuntimeClassFacts): void {
  if (overhead === undefined) return;
  const given = Object.keys(spec.overhead ?? {}).length > 0;
  if (given && !sameOverhead(spec.overhead, overhead)) throw admissionForbidden(attributes, MISMATCH);
  spec.overhead = { ...overhead };
}

function sameOverhead(a: unknown, b: unknown): boolean {
  return sameLists(parseResourceList(a), parseResourceList(b));
}

function setScheduling(attributes: AdmissionAttributes, spec: PodSpec, facts: RuntimeClassFacts): void {
  if (!facts.schedules) return;
  for (const [key, wanted] of Object.entries(facts.nodeSelector)) {
    const given = getKey(spec.nodeSelector ?? {}, key);
    if (given === undefined || given === wanted) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}; pod.spec.nodeSelector[${key}] = ${String(given)}`;
    throw admissionForbidden(attributes, why);
  }
  if (Object.keys(facts.nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...facts.nodeSelector };
  const given = spec.tolerations ?? [];
  const added = facts.tolerations.filter((toleration) => !given.some((each) => deepEqual(each, toleration)));
  if (added.length > 0) spec.tolerations = [...given, ...added];
}
