import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { isNotFound } from '../../api/status-error.ts';
import type { Clock } from '../../base/time/clock.ts';
import { demoteWarnings, type Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource, VanishLimit } from '../types/event.ts';
import type { MonitorEvent } from '../types/monitor-event.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';
import { MonitorSink } from './monitor-sink.ts';
import type { ObjectReader } from './object-reader.ts';
import type { Monitor } from './monitors.ts';

interface MonitorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** May be shared by all monitors: `apply` reads its columns before the next object is read. */
  readonly reader: ObjectReader;
  readonly apply: (event: GraphEvent) => ApplyOutcome;
  /** See MonitorSinkOptions. */
  readonly vanishLimit?: () => VanishLimit | undefined;
  readonly tell: (event: MonitorEvent) => void;
  /** See MonitorSinkOptions. */
  readonly newest?: number;
}

/**
 * One cluster-wide list and watch of the metadata of a resource (COL-017, COL-040). Throws if the graph has no room for another resource of
 * its kind.
 */
export function startMonitor(offered: OfferedResource, options: MonitorOptions): Monitor {
  const { client, clock, random, logger, reader, apply, tell } = options;
  const { group, version, resource: name, kind } = offered;
  const resource: MonitoredResource = { apiVersion: apiVersionOf(offered), kind, resource: name };
  // Throws here if the graph refuses the resource. The first list applies the same event again.
  apply({ type: 'listStarted', resource });
  const stopping = new AbortController();
  const sink = new MonitorSink({
    resource,
    read: (bytes, start, end) => reader.read(bytes, start, end),
    ahead: (bytes, ranges, count) => reader.ahead(bytes, ranges, count),
    apply,
    ...(options.vanishLimit === undefined ? {} : { vanishLimit: options.vanishLimit }),
    resumesFrom: () => reflector.resourceVersion,
    tell,
    newest: options.newest ?? Number.NaN,
  });
  const reflector = new Reflector({
    client,
    clock,
    random,
    logger: demoteWarnings(logger),
    gvr: { group, version, resource: name },
    representation: 'metadata',
    sink,
  });
  const running = reflector.run(stopping.signal);
  return {
    resource,
    get synced() {
      return sink.isSynced;
    },
    get version() {
      return sink.version;
    },
    get trouble() {
      return sink.trouble;
    },
    get absent() {
      return reflector.pausing && (sink.trouble === undefined || isNotFound(sink.trouble));
    },
    wake: (pauses) => reflector.wake(pauses),
    get suspected() {
      return sink.suspectedSince !== undefined;
    },
    suspect: () => sink.suspect(clock.monotonic()),
    reopen: () => {
      if (sink.suspectedSince !== undefined) reflector.reopen(sink.suspectedSince);
    },
    stop: () => {
      sink.silence();
      tell({ type: 'stopped' });
      stopping.abort();
      return running;
    },
  };
}
