import { withoutConversion } from '../../../api/apply/kind-versions.ts';
import { managersAfterScale, managersOfScale } from '../../../api/apply/scale-managers.ts';
import { apiVersionOf } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { appliedTo, validatedConfiguration } from '../../registry/apply-object.ts';
import { setManagedFields } from '../../registry/field-tracking.ts';
import { checkName } from '../../registry/object/object-meta.ts';
import { readConfiguration, repeatedKeysOf } from '../request/apply-body.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { parseApplyOptions } from '../request/write-options.ts';
import { liveScale, replicasPaths, scaleParent, scaleSchema, withMissingNumber } from './scale-parent.ts';

/**
 * PATCH of `/scale` with an apply configuration (API-210, API-331). The Scale is applied as an object of its own, whose managers are those
 * of the replicas; then the object's managers are updated.
 */
export async function handleApplyScale(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, name } = scope;
  const options = parseApplyOptions(context.query);
  const schema = scaleSchema();
  const configuration = await readConfiguration(context, resource.environment.clock);
  const config = validatedConfiguration(configuration.config, schema);
  const repeatedKeys = repeatedKeysOf(configuration, options.fieldValidation);
  const replicas = replicasPaths(resource);
  let warned = false;
  return scaleParent(scope, {
    method: 'patch',
    dryRun: options.dryRun,
    wanted: (parent) => {
      const live = liveScale(scope, parent);
      setManagedFields(live, managersOfScale(parent.metadata?.managedFields, replicas));
      const now = resource.environment.clock.now();
      const tracked = { part: 'all' } as const;
      const work = appliedTo(live, { config, schema, subresource: 'scale', manager: options, tracked, now });
      const scale = withMissingNumber(scope, parent, schema.decode(withoutConversion(work)).object);
      if (repeatedKeys.refusal !== undefined) throw repeatedKeys.refusal;
      if (!warned) for (const text of repeatedKeys.warnings) context.warn(text);
      warned = true;
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
