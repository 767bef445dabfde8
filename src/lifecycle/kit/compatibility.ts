/**
 * `strict` behaves as kube-controller-manager does also where kubegc shows watchers something better; preconditions and other guards stay
 * on (designs/0027-strict-compatibility.md).
 */
export type Compatibility = 'improved' | 'strict';
