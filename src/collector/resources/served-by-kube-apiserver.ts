import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';

const apiVersions: ReadonlySet<string> = new Set(builtinResources().map(apiVersionOf));

/** Whether kube-apiserver itself serves this version of a group by default (API-399). An extension server may serve any other version. */
export function isServedByKubeApiserver(apiVersion: string): boolean {
  return apiVersions.has(apiVersion);
}
