import { parseGroupVersion } from '../api/meta/group-version-kind.ts';
import { isAlreadyExists } from '../api/status-error.ts';
import { builtinResources } from '../api/kinds/builtin-resources.ts';
import type { ResourceRef } from '../client/resource-path.ts';
import type { RestClient } from '../client/rest-client.ts';
import { CommandError } from './command-error.ts';
import type { Manifest } from './manifests.ts';

const query = { fieldManager: 'kubegc-up', fieldValidation: 'Strict' };

/**
 * Creates the objects in order; one that exists is brought to the manifest by a merge patch, so that a second start with the
 * same files is no error. Stops at the first that the server refuses.
 */
export async function loadManifests(client: RestClient, manifests: readonly Manifest[]): Promise<void> {
  for (const { file, object } of manifests) {
    const what = `${object.kind ?? ''} ${object.metadata?.name ?? ''}`;
    try {
      const ref = refOf(object.apiVersion ?? '', object.kind ?? '', object.metadata?.namespace);
      try {
        await client.create(ref, object, { query });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        await client.patch(
          { ...ref, name: object.metadata?.name ?? '' },
          { type: 'application/merge-patch+json', body: object },
          { query },
        );
      }
    } catch (error) {
      throw new CommandError(
        `${file}: cannot load ${what}: ${error instanceof Error ? error.message : String(error)}`,
        undefined,
        {
          cause: error,
        },
      );
    }
  }
}

function refOf(apiVersion: string, kind: string, namespace: string | undefined): ResourceRef {
  const groupVersion = parseGroupVersion(apiVersion);
  const info = builtinResources().find(
    (row) => row.group === groupVersion?.group && row.version === groupVersion.version && row.kind === kind,
  );
  if (!groupVersion || !info)
    throw new CommandError(`no resource of kind "${kind}" in version "${apiVersion}" is served`);
  return {
    gvr: { ...groupVersion, resource: info.resource },
    ...(info.namespaced ? { namespace: namespace ?? 'default' } : {}),
  };
}
