type Fields = Record<string, unknown>;

/**
 * The same event in `v1` and in `events.k8s.io/v1`: only names differ (upstream `pkg/apis/events/v1/conversion.go`).
 * Events are stored as `v1`.
 */
const CORE_NAMES: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};
const EVENTS_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CORE_NAMES).map(([events, core]) => [core, events]),
);

function renamed(event: Fields, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names[name] ?? name, value]));
}

export function eventsEventToCore(event: Fields): Fields {
  return renamed(event, CORE_NAMES);
}

export function coreEventToEvents(event: Fields): Fields {
  return renamed(event, EVENTS_NAMES);
}
