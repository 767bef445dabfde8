import { copyJson } from '../../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newNotFound } from '../../../api/status-error.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import { updateObject } from '../../registry/update-object.ts';
import { decodeObject } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { checkName } from '../../registry/object/object-meta.ts';
import { freshCopies } from '../verbs/update.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** `PUT namespaces/<n>/finalize` changes `spec.finalizers` and nothing else (API-305). */
export async function handleFinalize(scope: ResourceScope): Promise<HttpResponse> {
  const { context, resource, info, name } = scope;
  const options = parseWriteOptions(context.query, 'UpdateOptions');
  const decode = (): Promise<KubeObject> =>
    decodeObject(context, resource.schema, options.fieldValidation, resource.environment.clock);
  const sent = await decode();
  checkName(sent, name);
  const copies = freshCopies(sent, decode);
  const result = await updateObject(resource, {
    namespace: '',
    name,
    subresource: 'finalize',
    part: 'whole',
    method: 'put',
    next: async (previous) => {
      if (previous === undefined) throw newNotFound(info, name);
      return withFinalizers(previous, await copies(previous));
    },
    context: writeContext(scope, options.dryRun),
  });
  return writeObject(scope, 200, result.object);
}

function withFinalizers(previous: KubeObject, sent: KubeObject): KubeObject {
  const { uid, resourceVersion } = sent.metadata ?? {};
  const { finalizers: _old, ...spec } = copyJson(previous['spec'] ?? {}) as Record<string, unknown>;
  const { finalizers } = (sent['spec'] ?? {}) as Record<string, unknown>;
  // A separate copy, which plug-ins may change.
  const { metadata, ...rest } = copyJson(previous);
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...(uid === undefined || uid === '' ? {} : { uid }),
      ...(resourceVersion === undefined || resourceVersion === '' ? {} : { resourceVersion }),
    },
    spec: finalizers === undefined ? spec : { ...spec, finalizers },
  };
}
