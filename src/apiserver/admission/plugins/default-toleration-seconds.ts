import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { isOfPods, type Pod, podSpecOf, type Toleration } from './pod-object.ts';

const SECONDS = 300;
const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;
const EFFECT = 'NoExecute';

/** Pods stay on a node that is in trouble for five minutes, unless they say otherwise (API-341). */
export class DefaultTolerationSeconds implements AdmissionPlugin {
  readonly name = 'DefaultTolerationSeconds';
  readonly operations = ['CREATE', 'UPDATE'] as const;

  admit(attributes: AdmissionAttributes): void {
    const { operation, object } = attributes;
    if (!isOfPods(attributes) || object === undefined) return;
    const pod = object as Pod;
    const spec = podSpecOf(pod);
    const given = spec.tolerations ?? [];
    const missing = TAINTS.filter((key) => !given.some((toleration) => tolerates(toleration, key)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({ key, operator: 'Exists', effect: EFFECT, tolerationSeconds: SECONDS }));
    const tolerations = [...given, ...added];
    // An update may share its spec with what is stored.
    if (operation === 'CREATE') spec.tolerations = tolerations;
    else pod.spec = { ...spec, tolerations };
  }
}

/** An empty key or effect stands for all. */
function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === EFFECT || effect === '');
}
