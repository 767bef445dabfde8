import { fieldElement, type PathElement } from '../../api/apply/path-element.ts';
import { withoutConversion } from '../../api/apply/kind-versions.ts';
import { managersAfterScale, managersOfScale } from '../../api/apply/scale-managers.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { setManagedFields } from '../registry/field-tracking.ts';
import type { ScalePaths } from '../registry/strategy.ts';
import { readConfiguration } from './apply-body.ts';
import { appliedTo, report, validatedConfiguration } from './apply-patch.ts';
import { stepsOf } from './custom-scale.ts';
import type { ResourceScope } from './resource-scope.ts';
import { patchedScale, scaleParent, scaleSchema } from './scale-parent.ts';
import { checkName } from './update.ts';
import { parseApplyOptions } from './write-options.ts';

const BUILT_IN_REPLICAS: readonly PathElement[] = ['f:spec', 'f:replicas'];

/**
 * PATCH of `/scale` with an apply configuration (API-210, API-331): the Scale is applied to as an object of its own, whose
 * managers are those of the replicas; afterwards they are entered into the object's.
 */
export async function handleApplyScale(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, name } = scope;
  const options = parseApplyOptions(context.query);
  const schema = scaleSchema();
  const { config, problems } = await readConfiguration(context);
  const validated = validatedConfiguration(config, schema);
  const replicas = replicasPath(resource.strategy.scale);
  let reported = false;
  return scaleParent(scope, {
    method: 'patch',
    dryRun: options.dryRun,
    wanted: (parent) => {
      const live = patchedScale(scope, parent);
      setManagedFields(live, managersOfScale(parent.metadata?.managedFields, replicas));
      const work = appliedTo(live, {
        config: validated,
        schema,
        subresource: 'scale',
        options,
        tracked: { part: 'all' },
        now: resource.environment.clock.now(),
      });
      const result = withoutConversion(work);
      if (!reported) report(problems, options, context.warn);
      reported = true;
      const { object } = schema.decode(result);
      checkName(object, name);
      return object;
    },
    managers: (parent: KubeObject, scale: KubeObject) =>
      managersAfterScale(
        { entries: parent.metadata?.managedFields, replicas, apiVersion: apiVersionOf(resource.info) },
        scale.metadata?.managedFields,
      ),
  });
}

function replicasPath(paths: ScalePaths | undefined): readonly PathElement[] {
  return paths === undefined ? BUILT_IN_REPLICAS : stepsOf(paths.specReplicas).map(fieldElement);
}
