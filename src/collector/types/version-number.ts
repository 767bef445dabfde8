/**
 * A resourceVersion as a number, to be compared with others of the same resource; NaN, which is neither lower nor higher than any, if it is none:
 * kube-apiserver's are numbers, a server beside it may use what it likes.
 */
export function versionNumber(resourceVersion: string): number {
  return /^\d+$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN;
}
