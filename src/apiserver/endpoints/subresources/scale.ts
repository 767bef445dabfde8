import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newInternalError } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { APPLY_PATCH } from '../request/apply-body.ts';
import { customScale } from './custom-scale.ts';
import { decodeObject } from '../request/decode-object.ts';
import { patched } from '../verbs/patch.ts';
import { patchType, readPatchBody } from '../request/patch-body.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import { patchedScale, scaleParent, scaleSchema, writeScale } from './scale-parent.ts';
import { checkName } from '../../registry/object/object-meta.ts';
import { freshCopies } from '../verbs/update.ts';
import { parseWriteOptions } from '../request/write-options.ts';

export async function handleGetScale(scope: ResourceScope): Promise<HttpResponse> {
  const parent = (await scope.resource.get(scope.namespace, scope.name)).object();
  const paths = scope.resource.strategy.scale;
  if (paths !== undefined && customScale(parent, paths).wanted === undefined) {
    throw newInternalError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
  }
  return writeScale(scope, parent);
}

export async function handleUpdateScale(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, name } = scope;
  const { clock } = resource.environment;
  const options = parseWriteOptions(context.query, 'UpdateOptions');
  const decode = (): Promise<KubeObject> => decodeObject(context, scaleSchema(), options.fieldValidation, clock);
  const scale = await decode();
  checkName(scale, name);
  const next = freshCopies(scale, decode);
  return scaleParent(scope, { method: 'put', dryRun: options.dryRun, wanted: (parent) => next(parent) });
}

export async function handlePatchScale(scope: ResourceScope): Promise<HttpResponse> {
  const { context } = scope;
  if (patchType(context) === APPLY_PATCH) {
    const { handleApplyScale } = await import('./apply-scale.ts');
    return handleApplyScale(scope);
  }
  const expected = scaleSchema();
  const patch = readPatchBody(context, expected.typeName);
  const options = parseWriteOptions(context.query, 'PatchOptions');
  const validation = options.fieldValidation;
  return scaleParent(scope, {
    method: 'patch',
    dryRun: options.dryRun,
    wanted: (parent) => {
      const scale = patched(patchedScale(scope, parent), { patch, expected, validation, context });
      checkName(scale, scope.name);
      return scale;
    },
  });
}
