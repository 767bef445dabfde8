import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { isNotFound } from '../../api/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import { demoteWarnings, type Logger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { InDoubt } from '../caches/absent-owner-cache.ts';
import type { ApplyOutcome } from '../graph/effect.ts';
import type { GraphEvent, MonitoredResource, VanishLimit } from '../types/event.ts';
import type { ObjectColumns } from '../types/object-columns.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import { versionNumber } from '../types/version-number.ts';
import { type HistoryEvidence, MonitorSink } from './monitor-sink.ts';
import type { ObjectReader } from './object-reader.ts';
import type { Monitor } from './monitors.ts';
import type { ResumedWatches } from './resumed-watches.ts';
import type { TroubleLog } from './trouble-log.ts';

export interface MonitorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Of all monitors: tells what the reflectors warn of. */
  readonly troubles: TroubleLog;
  /** Of all monitors; told of this one if the server that has its resource is kube-apiserver itself. */
  readonly resumedWatches?: ResumedWatches;
  /** May be shared by all monitors: `apply` reads its columns before the next object is read. */
  readonly reader: ObjectReader;
  readonly apply: (event: GraphEvent) => ApplyOutcome;
  /** See MonitorSinkOptions. */
  readonly vanishLimit?: () => VanishLimit | undefined;
  readonly onListed?: () => void;
  readonly onWaitingListed: (columns: ObjectColumns) => void;
  readonly onTouched: (columns: ObjectColumns) => void;
  readonly onSynced: () => void;
  readonly onTrouble: () => void;
  readonly onDoubt: (about: InDoubt) => void;
  /** After a failure an enumeration is complete, or a watch shows something. */
  readonly onRecovered?: () => void;
  readonly onHistoryReset: (evidence: HistoryEvidence) => void;
  readonly onChanged?: () => void;
}

/**
 * One cluster-wide list and watch of the metadata of a resource (COL-017, COL-040). Throws when the graph has no place for one more
 * resource of its kind.
 */
export function startMonitor(offered: OfferedResource, options: MonitorOptions): Monitor {
  const { client, clock, random, logger, troubles, resumedWatches, reader, apply } = options;
  const { onWaitingListed, onTouched, onSynced, onTrouble, onDoubt, onRecovered, onHistoryReset, onChanged } = options;
  const { group, version, resource: name, kind } = offered;
  const resource: MonitoredResource = { apiVersion: apiVersionOf(offered), kind, resource: name };
  const key = resourceKey(offered);
  // As its first list will do again: here it can still be refused.
  apply({ type: 'listStarted', resource });
  const stopping = new AbortController();
  const sink = new MonitorSink({
    resource,
    read: (bytes, start, end) => reader.read(bytes, start, end),
    ahead: (bytes, ranges, count) => reader.ahead(bytes, ranges, count),
    apply,
    ...(options.vanishLimit === undefined ? {} : { vanishLimit: options.vanishLimit }),
    ...(options.onListed === undefined ? {} : { onListed: options.onListed }),
    onWaitingListed,
    onTouched,
    onSynced: () => {
      logger.debug('a monitor is synced', { resource: key });
      onSynced();
    },
    onTrouble,
    onDoubt,
    onHistoryReset,
    onFailed: (error) => {
      troubles.failed(key, error);
      resumedWatches?.forget(offered);
    },
    onAnswered: () => troubles.answered(key),
    onResumed: () => {
      const version = versionNumber(reflector.resourceVersion);
      resumedWatches?.add({ offered, version, onOlder: () => onHistoryReset('lowerVersion') });
    },
    onRecovered: () => {
      troubles.recovered(key);
      resumedWatches?.forget(offered);
      onRecovered?.();
    },
    ...(onChanged === undefined ? {} : { onChanged }),
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
    stop: () => {
      sink.silence();
      troubles.forget(key);
      resumedWatches?.forget(offered);
      stopping.abort();
      return running;
    },
  };
}
