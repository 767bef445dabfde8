import { isJsonObject } from '../codec/json/json-value.ts';
import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { quoted } from '../meta/quoted.ts';
import { formatTime, parseTime } from '../meta/time.ts';
import { decodeFieldsV1, EMPTY_SET, type FieldSet, inOrder, isEmptySet } from './fieldset.ts';
import { PathElementError } from './path-element.ts';

/** The managers of fields. One entry per manager (API-215). */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** That the fields are written in. An applier is the same one in every version. */
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

export interface ManagedEntry extends Manager {
  readonly fields: FieldSet;
  /** RFC 3339; empty when it is not known. */
  readonly time: string;
  /** The entry of the object it comes from. */
  readonly stored?: ManagedFieldsEntry | undefined;
}

export type Managers = readonly ManagedEntry[];

const UNKNOWN_MANAGER = 'unknown';

export function namedManager(manager: Manager): Manager {
  return manager.name === '' ? { ...manager, name: UNKNOWN_MANAGER } : manager;
}

export function isSameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** A text that is the same for the same manager, and by which conflicts and the oldest of equal age are ordered (apimachinery). */
export function managerIdentifier({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({
    manager: name === '' ? undefined : name,
    operation,
    apiVersion: operation === 'Apply' ? undefined : apiVersion,
    subresource: subresource === '' ? undefined : subresource,
  });
}

/** Entries the server itself has written: read without a second look. */
export function storedManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  return (entries ?? []).map((entry) => entryFrom(entry, (entry.fieldsV1 ?? EMPTY_SET) as FieldSet, entry));
}

function entryFrom(entry: ManagedFieldsEntry, fields: FieldSet, stored?: ManagedFieldsEntry): ManagedEntry {
  return {
    name: entry.manager ?? '',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: entry.apiVersion ?? '',
    subresource: entry.subresource ?? '',
    time: entry.time ?? '',
    fields,
    stored,
  };
}

/** Entries from outside in the server's own spelling; undefined if one of them cannot be understood. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers = new Map<string, ManagedEntry>();
  for (const entry of entries) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') return undefined;
    if ((entry.apiVersion ?? '') === '' || entry.fieldsType !== 'FieldsV1') return undefined;
    try {
      const decoded = entryFrom(entry, decodeFieldsV1(entry.fieldsV1));
      const time = decoded.time === '' ? undefined : parseTime(decoded.time);
      const known = { ...decoded, time: time === undefined ? '' : formatTime(time) };
      // The last of several entries of one manager counts, as in a map.
      managers.set(managerIdentifier(known), known);
    } catch (error) {
      if (error instanceof PathElementError) return undefined;
      throw error;
    }
  }
  return [...managers.values()];
}

/** The problem of entries that {@link decodeManagers} cannot understand, in upstream's words. */
export function managersProblem(entries: readonly ManagedFieldsEntry[]): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const { operation, apiVersion = '', fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (apiVersion === '') return 'apiVersion must not be empty';
    if (fieldsType === '') return `missing fieldsType in managed fields entry ${index}`;
    if (fieldsType !== 'FieldsV1') return `invalid fieldsType ${quoted(fieldsType)} in managed fields entry ${index}`;
    if (decodeManagers([entry]) === undefined) return `error decoding versioned set from entry ${index}`;
  }
  return undefined;
}

/** API-219: an empty list, or one empty entry, gives up tracking. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first] = entries;
  if (first === undefined) return true;
  // To Go a member that is empty is none.
  return entries.length === 1 && isJsonObject(first) && Object.values(first).every((value) => (value ?? '') === '');
}

/** The entries a write starts from (API-219): those the client sent if they say anything and can be understood, else the stored ones. */
export function requestedManagers(
  sent: readonly ManagedFieldsEntry[],
  stored: readonly ManagedFieldsEntry[] | undefined,
): Managers {
  if (isReset(sent)) return [];
  const managers = decodeManagers(sent);
  return managers === undefined || managers.length === 0 ? storedManagers(stored) : managers;
}

/**
 * As stored and shown: appliers first, then the oldest (API-215). Managers of nothing are left out; undefined when none is
 * left.
 */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  const entries = managers.filter((manager) => !isEmptySet(manager.fields)).sort(compareManagers);
  return entries.length === 0 ? undefined : entries.map(encodeManager);
}

function compareManagers(a: ManagedEntry, b: ManagedEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time, b.time) ||
    compareTexts(a.name, b.name) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function encodeManager({
  name,
  operation,
  apiVersion,
  subresource,
  time,
  fields,
  stored,
}: ManagedEntry): ManagedFieldsEntry {
  const unchanged = stored !== undefined && stored.fieldsV1 === fields;
  if (unchanged && (stored.time ?? '') === time) return stored;
  const entry: ManagedFieldsEntry = { manager: name, operation, apiVersion };
  if (time !== '') entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = unchanged ? fields : inOrder(fields);
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

/** The time of an entry, in whole seconds. `now`: epoch ms. */
export function entryTime(now: number): string {
  return formatTime(now);
}
