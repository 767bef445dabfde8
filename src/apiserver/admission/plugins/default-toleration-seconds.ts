import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { isOfPods, type Pod, podSpecOf, type Toleration } from './pod-object.ts';

const SECONDS = 300;
const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;
const EFFECT = 'NoExecute';

/** Lets pods stay on a failing node for five minutes, unless they specify otherwise (API-341). */
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
    // An update may share its spec with the stored object, so it is not changed in place.
    if (operation === 'CREATE') spec.tolerations = tolerations;
    else pod.spec = { ...spec, tolerations };
  }
}

/** An empty key or effect matches all. */
function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === EFFECT || effect === '');
}
