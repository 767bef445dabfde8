import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { newBadRequest } from '../../../api/status-error.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import { metadataOf } from '../object/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface DaemonSet extends KubeObject {
  spec?: { template?: unknown };
}

/** A field of older versions that apps/v1 has as an annotation (apps/v1 `Convert_apps_DaemonSet_To_v1_DaemonSet`). */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** The number of template changes is counted separately from `generation`. A client's value counts only on create. */
export const daemonSetStrategy: Strategy = {
  prepareForCreate(daemonSet: DaemonSet) {
    const given = daemonSet.metadata?.annotations?.[TEMPLATE_GENERATION];
    if (given !== undefined && !/^[+-]?\d+$/.test(given)) {
      throw newBadRequest(
        `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${quoted(given)}: invalid syntax`,
      );
    }
    setTemplateGeneration(daemonSet, Math.max(1, Number(given ?? 1)));
  },
  prepareForUpdate(next: DaemonSet, previous: DaemonSet, { subresource }) {
    const old = Number(previous.metadata?.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const changed = subresource === '' && !deepEqual(next.spec?.template, previous.spec?.template);
    setTemplateGeneration(next, changed ? old + 1 : old);
  },
};

function setTemplateGeneration(daemonSet: DaemonSet, generation: number): void {
  const meta = metadataOf(daemonSet);
  meta.annotations = { ...meta.annotations, [TEMPLATE_GENERATION]: String(generation) };
}
