/** Settings by which a kubelet collects images itself, as its `/configz` shows them. */
interface KubeletConfigz {
  readonly kubeletconfig?: {
    readonly imageGCHighThresholdPercent?: unknown;
    readonly imageMaximumGCAge?: unknown;
  };
}

const OFF: readonly unknown[] = [undefined, '', '0', '0s'];

/**
 * The kubelet's settings that let it collect images too (NODE-141); empty if none does. A threshold that is not shown has the kubelet's
 * default, with which the kubelet collects.
 * @param configz the answer of the kubelet's `/configz`
 * @returns settings in the form of the kubelet's file
 */
export function kubeletImageCollection(configz: unknown): readonly string[] {
  const { kubeletconfig = {} } = (configz ?? {}) as KubeletConfigz;
  const { imageGCHighThresholdPercent: high = 85, imageMaximumGCAge: age } = kubeletconfig;
  const settings: string[] = [];
  if (high !== 100) settings.push(`imageGCHighThresholdPercent: ${String(high)}`);
  if (!OFF.includes(age)) settings.push(`imageMaximumGCAge: ${String(age)}`);
  return settings;
}
