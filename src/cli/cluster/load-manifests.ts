import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { isAlreadyExists } from '../../api/status-error.ts';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { discover, type DiscoveredResource } from '../../client/discovery/discovery.ts';
import type { ResourceRef } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { CommandError } from '../process/command-error.ts';
import type { Manifest } from '../flags/manifests.ts';

export interface Loading {
  readonly client: RestClient;
  readonly clock: Clock;
}

interface Resolving extends Loading {
  /** Kinds that the manifests define themselves. */
  readonly defined: ReadonlySet<string>;
  /** Custom resources found so far. */
  readonly known: DiscoveredResource[];
}

type Served = Pick<DiscoveredResource, 'group' | 'version' | 'kind'>;

const ESTABLISHED_WITHIN_MS = 5000;
const ESTABLISHED_POLL_MS = 10;

const query = { fieldManager: 'kubegc-up', fieldValidation: 'Strict' };

/**
 * Creates the objects in order. An existing one is updated by a merge patch, so that a second start with the same files succeeds. Stops at
 * the first refusal of the server.
 */
export async function loadManifests({ client, clock }: Loading, manifests: readonly Manifest[]): Promise<void> {
  const defined = new Set(manifests.flatMap(({ object }) => definedKind(object)));
  const known: DiscoveredResource[] = [];
  for (const { file, object } of manifests) {
    const what = `${object.kind ?? ''} ${object.metadata?.name ?? ''}`;
    try {
      const ref = await refOf({ client, clock, defined, known }, object);
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
      throw new CommandError(`${file}: cannot load ${what}: ${messageOf(error)}`, undefined, {
        cause: error,
      });
    }
  }
}

async function refOf(loading: Resolving, { apiVersion = '', kind = '', metadata }: KubeObject): Promise<ResourceRef> {
  const groupVersion = parseGroupVersion(apiVersion);
  const patience = loading.defined.has(`${kind}.${groupVersion?.group}`) ? ESTABLISHED_WITHIN_MS : 0;
  const isMeant = (row: Served): boolean =>
    row.group === groupVersion?.group && row.version === groupVersion.version && row.kind === kind;
  const found =
    builtinResources().find(isMeant) ??
    loading.known.find(isMeant) ??
    (await customResource({ ...loading, patience }, isMeant));
  if (found === undefined) throw new CommandError(`no resource of kind "${kind}" in version "${apiVersion}" is served`);
  const { group, version, resource } = found;
  return {
    gvr: { group, version, resource },
    ...(found.namespaced ? { namespace: metadata?.namespace ?? 'default' } : {}),
  };
}

/** `<Kind>.<group>` of the kind that a manifest defines. */
function definedKind({ kind, spec }: KubeObject): string[] {
  if (kind !== 'CustomResourceDefinition') return [];
  const { group, names } = (spec ?? {}) as { group?: string; names?: { kind?: string } };
  return [`${names?.kind}.${group}`];
}

/** A kind is served shortly after its definition was created. */
async function customResource(
  { client, clock, known, patience }: Resolving & { readonly patience: number },
  isMeant: (row: Served) => boolean,
): Promise<DiscoveredResource | undefined> {
  const deadline = clock.monotonic() + patience;
  for (;;) {
    const { resources } = await discover(client);
    const found = resources.find(isMeant);
    if (found !== undefined) known.push(found);
    if (found !== undefined || clock.monotonic() >= deadline) return found;
    await sleep(clock, ESTABLISHED_POLL_MS);
  }
}
