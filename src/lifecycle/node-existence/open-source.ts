import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parseTime } from '../../api/meta/time.ts';
import type { Clock } from '../../base/time/clock.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Node } from '../pods/pod-object.ts';
import type { SourceSpec } from './source-spec.ts';
import { type InstanceSource, type InstanceState, inventorySource } from './instance-source.ts';

const run = promisify(execFile);
/** Timeout of a program or server that returns an inventory. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** The annotation or label of a node with the name of its machine object, as `namespace/name` or `name`. */
const MACHINE = 'kubegc.io/machine';

/** Connects a source to files, programs, servers and the cluster. */
export function openSource(
  spec: SourceSpec,
  { client, clock }: { readonly client: RestClient; readonly clock: Clock },
): InstanceSource {
  switch (spec.kind) {
    case 'file':
      return inventorySource(`inventory ${spec.path}`, (signal) => readFile(spec.path, { encoding: 'utf8', signal }));
    case 'exec':
      return inventorySource(`program ${spec.path}`, async (signal) => {
        const { stdout } = await run(spec.path, [], { signal, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES });
        return stdout;
      });
    case 'http':
      return inventorySource(`inventory ${spec.url}`, (signal) => download(spec.url, signal));
    case 'object':
      return objectSource(spec, client);
    case 'lease':
      return leaseSource(spec.absentAfterMs, client, clock);
  }
}

async function download(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const length = Number(answer.headers.get('content-length') ?? 0);
  if (length > MAX_BYTES) throw new Error(`${url} answers ${length} bytes, more than ${MAX_BYTES}`);
  return answer.text();
}

/** A node exists as long as its machine object does. A node without such a name is left unchanged. */
function objectSource(gvr: { resource: string; version: string; group: string }, client: RestClient): InstanceSource {
  return {
    name: `${gvr.resource}.${gvr.version}.${gvr.group}`,
    states: async (nodes, signal) => {
      // One list of all machines: if their definition is gone, the list fails, while a GET of each would answer 404 as if all were gone.
      const { items } = await client.list({ gvr }, { signal });
      const machines = new Set(items.map(keyOf));
      if (machines.size === 0) throw new Error('there is no machine at all');
      return new Map(
        nodes.map(({ metadata }) => {
          const machine = metadata?.annotations?.[MACHINE] ?? metadata?.labels?.[MACHINE];
          const state: InstanceState = machine === undefined ? 'unknown' : machines.has(machine) ? 'exists' : 'absent';
          return [metadata?.name ?? '', state];
        }),
      );
    },
  };
}

/** A node is gone if its lease was not renewed for a long time. A node that never had a lease is left unchanged. */
function leaseSource(absentAfterMs: number, client: RestClient, clock: Clock): InstanceSource {
  return {
    name: 'node leases',
    states: async (nodes, signal) => {
      const { items } = await client.list<{ spec?: { renewTime?: string } }>(
        { gvr: LEASES, namespace: 'kube-node-lease' },
        { signal },
      );
      const renewed = new Map(
        items.map((lease) => [(lease as Node).metadata?.name ?? '', parseTime(lease.spec?.renewTime ?? '')]),
      );
      return new Map(
        nodes.map(({ metadata }) => {
          const at = renewed.get(metadata?.name ?? '');
          const state: InstanceState =
            at === undefined ? 'unknown' : clock.now() - at > absentAfterMs ? 'absent' : 'exists';
          return [metadata?.name ?? '', state];
        }),
      );
    },
  };
}
