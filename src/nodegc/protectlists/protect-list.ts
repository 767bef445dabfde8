import { messageOf } from '../../base/errors/thrown.ts';
import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { parseProtectPattern, type ProtectPattern } from '../patterns/protect-pattern.ts';

/** A ConfigMap with this label, whatever its value, is a protect list (NODE-212). */
export const PROTECT_LIST_LABEL = 'node.kubegc/protect-list';

/** The fields of a ConfigMap that are read. */
export interface ProtectListObject {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
}

export interface ProtectList {
  readonly patterns: readonly ProtectPattern[];
  /** Describes the unreadable part; undefined when there is none. */
  readonly fault: string | undefined;
}

/**
 * Reads a protect list for one node. `images` has one pattern on each line. `nodeSelector` selects the nodes of the list; without it, the
 * list is for all nodes. A selector of nodes that cannot be read selects every node, and a pattern that cannot be read matches every image: a
 * mistake may keep an image, but never remove one.
 * @param nodeLabels undefined if the cluster has no such Node; then every selector selects it
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
    fault = `${name} has a nodeSelector that cannot be read: ${messageOf(error)}`;
  }
  if (!selected) return { patterns: [], fault };
  const lines = images.split('\n').map((line) => line.replace(/(?:^|\s)#.*$/, '').trim());
  const faults = fault === undefined ? [] : [fault];
  const patterns = lines
    .filter((line) => line !== '')
    .map((line): ProtectPattern => {
      try {
        return { ...parseProtectPattern(line), source: name };
      } catch (error) {
        faults.push(`${name} has "${line}", which cannot be read: ${messageOf(error)}`);
        return { text: line, source: name, byLabels: false, matches: () => true };
      }
    });
  return { patterns, fault: faults.length === 0 ? undefined : faults.join('; ') };
}
