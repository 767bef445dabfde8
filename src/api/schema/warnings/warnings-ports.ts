import { quoted } from '../../meta/quoted.ts';
import { type Fields, objectsAt } from '../fields/defaults-fields.ts';

/** A container and its path. */
export interface PlacedContainer {
  readonly container: Fields;
  readonly at: string;
}

interface PlacedPort {
  readonly at: string;
  readonly port: Fields;
}

/** Checks the ports of all containers of a pod, which share one address. */
export function portWarnings(containers: readonly PlacedContainer[]): string[] {
  const ports = containers.flatMap(({ container, at }) =>
    objectsAt(container, 'ports').map((port, i): PlacedPort => ({ port, at: `${at}.ports[${i}]` })),
  );
  return [...overlaps(ports), ...sharedNames(ports)];
}

/**
 * Maximum number of compared ports with the same number and protocol, and of reported overlaps. Comparing all pairs of some thousands
 * would block the server, and no answer has space for them.
 */
const MOST = 100;

function overlaps(ports: readonly PlacedPort[]): string[] {
  const known = new Map<string, PlacedPort[]>();
  const warnings: string[] = [];
  for (const placed of ports) {
    if (warnings.length >= MOST) break;
    const key = `${String(placed.port['containerPort'])}/${String(placed.port['protocol'])}`;
    const others = known.get(key) ?? [];
    for (const other of others) {
      const how = overlap(placed.port, other.port);
      if (how !== undefined) warnings.push(`${placed.at}: ${how} port definition with ${other.at}`);
    }
    if (others.length < MOST) known.set(key, [...others, placed]);
  }
  return warnings;
}

function overlap(port: Fields, other: Fields): string | undefined {
  const [ip, otherIp] = [String(port['hostIP'] ?? ''), String(other['hostIP'] ?? '')];
  const [host, otherHost] = [Number(port['hostPort'] ?? 0), Number(other['hostPort'] ?? 0)];
  if (ip === otherIp && host === otherHost) return 'duplicate';
  if (host === 0 || otherHost === 0) return 'overlapping';
  return host === otherHost && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

function sharedNames(ports: readonly PlacedPort[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ at, port }) => {
    const name = String(port['name'] ?? '');
    if (name === '') return [];
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, at);
      return [];
    }
    const served = `services and probes that select ports by name will use ${other}`;
    return [`${at}: duplicate port name ${quoted(name)} with ${other}, ${served}`];
  });
}
