/**
 * With `strict`, watchers see what kube-controller-manager would show, even where kubegc does better. Preconditions and other guards stay on
 * (designs/0027-strict-compatibility.md).
 */
export type Compatibility = 'improved' | 'strict';
