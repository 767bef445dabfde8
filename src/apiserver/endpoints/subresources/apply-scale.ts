import { withoutConversion } from '../../../api/apply/kind-versions.ts';
import { managersAfterScale, managersOfScale } from '../../../api/apply/scale-managers.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { setManagedFields } from '../../registry/field-tracking.ts';
import { readConfiguration } from '../request/apply-body.ts';
import { appliedTo, report, validatedConfiguration } from '../verbs/apply-patch.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { appliedScale, replicasPaths, scaleParent, scaleSchema } from './scale-parent.ts';
import { checkName } from '../verbs/update.ts';
import { parseApplyOptions } from '../request/write-options.ts';

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
  const replicas = replicasPaths(resource);
  let reported = false;
  return scaleParent(scope, {
    method: 'patch',
    dryRun: options.dryRun,
    wanted: (parent) => {
      const scale = appliedScale(scope, parent, (live) => {
        setManagedFields(live, managersOfScale(parent.metadata?.managedFields, replicas));
        const work = appliedTo(live, {
          config: validated,
          schema,
          subresource: 'scale',
          options,
          tracked: { part: 'all' },
          now: resource.environment.clock.now(),
        });
        return schema.decode(withoutConversion(work)).object;
      });
      if (!reported) report(problems, options, context.warn);
      reported = true;
      checkName(scale, name);
      return scale;
    },
    managers: (parent: KubeObject, scale: KubeObject) =>
      managersAfterScale(
        { entries: parent.metadata?.managedFields, replicas, apiVersion: apiVersionOf(resource.info) },
        scale.metadata?.managedFields,
      ),
  });
}
