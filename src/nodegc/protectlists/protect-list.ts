import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { parseReferencePattern, type ReferencePattern } from '../images/reference-pattern.ts';

/** A ConfigMap with this label, whatever its value, is a protect list (NODE-212). */
export const PROTECT_LIST_LABEL = 'node.kubegc/protect-list';

/** The fields of a ConfigMap that are read. */
export interface ProtectListObject {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
}

export interface ProtectList {
  readonly patterns: readonly ReferencePattern[];
  /** The part that cannot be read; undefined when all can. */
  readonly fault: string | undefined;
}

/**
 * Reads a protect list as it holds for one node: `images` has a pattern on each line, `nodeSelector` the nodes that it is for; without it
 * they are all. A selector that cannot be read selects every node: a mistake may keep an image, never remove one.
 * @param nodeLabels undefined where the cluster has no such Node: every selector selects it then
 */
export function readProtectList(
  { metadata = {}, data = {} }: ProtectListObject,
  nodeLabels: Readonly<Record<string, string>> | undefined,
): ProtectList {
  const name = `ConfigMap ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  const { images = '', nodeSelector = '' } = data;
  let fault = data['images'] === undefined ? `${name} has no key "images"` : undefined;
  let selected = true;
  try {
    const selector = parseLabelSelector(nodeSelector);
    selected = nodeLabels === undefined || selector.matches(nodeLabels);
  } catch (error) {
    fault = `${name} has a nodeSelector that cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!selected) return { patterns: [], fault };
  const lines = images.split('\n').map((line) => line.replace(/(?:^|\s)#.*$/, '').trim());
  const patterns = lines
    .filter((line) => line !== '')
    .map((line) => ({ ...parseReferencePattern(line), source: name }));
  return { patterns, fault };
}
