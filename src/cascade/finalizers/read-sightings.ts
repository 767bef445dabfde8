import type { KubeObject } from '../../api/meta/object-meta.ts';
import { humanDuration } from '../../api/meta/duration.ts';
import { parseTime } from '../../api/meta/time.ts';
import { StatusError } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ControllerSighting } from './finalizer-evidence.ts';

interface Source {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly sighting: (object: KubeObject, now: number) => Omit<ControllerSighting, 'what' | 'words'>;
  readonly words: (object: KubeObject) => string[];
}

const PAGE = 500;
const MAX_PAGES = 1000;
/** A holder that missed this many durations of its lease counts as gone. */
const TERMS = 3;

const sources: readonly Source[] = [
  { group: 'coordination.k8s.io', resource: 'leases', kind: 'lease', sighting: leaseSighting, words: holderWords },
  ...['deployments', 'statefulsets', 'daemonsets'].map((resource) => ({
    group: 'apps',
    resource,
    kind: resource.slice(0, -1),
    sighting: workloadSighting,
    words: imageWords,
  })),
];

/**
 * Reads the objects that may be controllers: leases and workloads. A kind that cannot be listed gives no sightings, which proves nothing: a
 * finalizer is then `unknown`.
 */
export async function readSightings(client: RestClient, clock: Clock): Promise<ControllerSighting[]> {
  const found = await Promise.all(sources.map((source) => readSource(client, source, clock.now())));
  return found.flat();
}

async function readSource(client: RestClient, source: Source, now: number): Promise<ControllerSighting[]> {
  const { group, resource, kind } = source;
  const sightings: ControllerSighting[] = [];
  let from: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { limit: PAGE, continue: from };
      const list = await client.list({ gvr: { group, version: 'v1', resource } }, { query });
      for (const item of list.items) {
        const { namespace = '', name = '', labels = {} } = item.metadata ?? {};
        const words = [name, ...Object.values(labels), ...source.words(item)].map((word) => word.toLowerCase());
        sightings.push({ what: `${kind} ${namespace}/${name}`, words, ...source.sighting(item, now) });
      }
      from = list.metadata.continue;
      if (from === undefined || from === '') break;
    }
  } catch (error) {
    if (!(error instanceof StatusError) || error.code === 401) throw error;
  }
  return sightings;
}

function leaseSighting({ spec }: KubeObject, now: number): Omit<ControllerSighting, 'what' | 'words'> {
  const { renewTime, leaseDurationSeconds = 15 } = (spec ?? {}) as {
    renewTime?: string;
    leaseDurationSeconds?: number;
  };
  const renewed = renewTime === undefined ? undefined : parseTime(renewTime);
  if (renewed === undefined) return { alive: false, proof: 'was never renewed' };
  const age = Math.max(0, now - renewed);
  const alive = age <= TERMS * leaseDurationSeconds * 1000;
  return { alive, proof: `was renewed ${humanDuration(age)} ago` };
}

function holderWords({ spec }: KubeObject): string[] {
  const { holderIdentity } = (spec ?? {}) as { holderIdentity?: string };
  return holderIdentity === undefined ? [] : [holderIdentity];
}

function workloadSighting({ status }: KubeObject): Omit<ControllerSighting, 'what' | 'words'> {
  const { readyReplicas = 0, numberReady = 0 } = (status ?? {}) as { readyReplicas?: number; numberReady?: number };
  const ready = readyReplicas + numberReady;
  return { alive: ready > 0, proof: ready > 0 ? `has ${ready} ready pods` : 'has no ready pod' };
}

function imageWords({ spec }: KubeObject): string[] {
  const { template } = (spec ?? {}) as { template?: { spec?: { containers?: { name?: string; image?: string }[] } } };
  return (template?.spec?.containers ?? []).flatMap(({ name = '', image = '' }) => [name, image]);
}
