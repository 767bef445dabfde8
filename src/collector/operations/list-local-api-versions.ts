import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { CallContext } from './call-context.ts';

/**
 * kube-apiserver puts this label on each APIService that it registered itself: `onstart` for built-in groups, `true` for custom resources.
 */
const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
const MANAGED: ReadonlySet<string | undefined> = new Set(['onstart', 'true']);
const PAGE_SIZE = 500;
const TIMEOUT_MS = 10_000;

/**
 * The apiVersions that kube-apiserver serves from its own storage, including those of custom resources. The labels of the APIServices say
 * which. Rejects when these cannot be listed. Bounded by the number of the server's pages.
 */
export async function listLocalApiVersions(
  { client, signal }: Pick<CallContext, 'client' | 'signal'>,
  gvr: GroupVersionResource,
): Promise<ReadonlySet<string>> {
  const local = new Set<string>();
  let token: string | undefined;
  do {
    const { items, metadata } = await client.list(
      { gvr },
      {
        query: { limit: PAGE_SIZE, continue: token },
        accept: ACCEPT_METADATA_LIST_JSON,
        timeoutMs: TIMEOUT_MS,
        signal,
      },
    );
    for (const { metadata: { name = '', labels } = {} } of items) {
      if (MANAGED.has(labels?.[MANAGED_LABEL])) local.add(apiVersionNamed(name));
    }
    token = metadata.continue === '' ? undefined : metadata.continue;
  } while (token !== undefined);
  return local;
}

/** `v1.example.com` becomes `example.com/v1`, and `v1.` becomes `v1`. */
function apiVersionNamed(name: string): string {
  const dot = name.indexOf('.');
  const [version, group] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)];
  return group === '' ? version : `${group}/${version}`;
}
