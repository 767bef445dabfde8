import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { newBadRequest } from '../../api/status-error.ts';
import type { RuntimeImage } from '../inventory/runtime.ts';
import type { ImageLabels } from './image-labels.ts';
import { parseReferencePattern, type ReferencePattern } from './reference-pattern.ts';

/** A line of a protect list: a reference pattern, or a selector of labels. */
export interface ProtectPattern extends ReferencePattern {
  /** Whether the labels of the image decide. */
  readonly byLabels: boolean;
  /** @param labels undefined where they cannot be read; then a selector matches, because a removal must be certain */
  matches(image: RuntimeImage, labels?: ImageLabels): boolean;
}

const LABEL_PREFIX = 'label:';

/**
 * A line of a protect list (NODE-212): `label:` and a label selector as kubectl takes it, or a reference pattern.
 * @throws StatusError for a selector that is empty or malformed
 */
export function parseProtectPattern(text: string): ProtectPattern {
  if (!text.startsWith(LABEL_PREFIX)) return { ...parseReferencePattern(text), byLabels: false };
  const selector = parseLabelSelector(text.slice(LABEL_PREFIX.length));
  if (selector.empty) throw newBadRequest('the selector is empty');
  return { text, byLabels: true, matches: (_, labels) => labels === undefined || selector.matches(labels) };
}

/** Why a pattern that matches the image protects it, as a clause. */
export function protectDetail(
  { source = 'the protect list', text, byLabels }: ProtectPattern,
  labels?: ImageLabels,
): string {
  const unread = byLabels && labels === undefined ? ', and the labels of this image cannot be read' : '';
  return `${source} has "${text}"${unread}`;
}
