/**
 * A resourceVersion as a number, to be compared with others of the same resource. Versions of kube-apiserver are numbers, but a server
 * beside it may use any text. A text that is no number becomes NaN, which is neither lower nor higher than any version.
 */
export function versionNumber(resourceVersion: string): number {
  return /^\d+$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN;
}
