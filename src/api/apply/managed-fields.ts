import { isJsonObject } from '../codec/json/json-value.ts';
import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { quoted } from '../meta/quoted.ts';
import { formatTime, parseTime } from '../meta/time.ts';
import { decodeFieldsV1, EMPTY_SET, type FieldSet, inOrder, isEmptySet } from './fieldset.ts';
import { PathElementError } from './path-element.ts';

/** A manager of fields. Each manager has one entry (API-215). */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** The version in which the fields are written. An applier is the same manager in every version. */
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

export interface ManagedEntry extends Manager {
  readonly fields: FieldSet;
  /** RFC 3339, or empty if unknown. */
  readonly time: string;
  /** The entry of the object that this manager was read from. */
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

/** A text that identifies a manager. It orders conflicts, and managers with the same time (apimachinery). */
export function managerIdentifier({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify({
    manager: name === '' ? undefined : name,
    operation,
    apiVersion: operation === 'Apply' ? undefined : apiVersion,
    subresource: subresource === '' ? undefined : subresource,
  });
}

/** Managers from entries that the server itself has written. Does not validate them. */
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

/** Entries from a client in the server's own spelling; undefined if one of them cannot be read. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers = new Map<string, ManagedEntry>();
  for (const entry of entries) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') return undefined;
    if ((entry.apiVersion ?? '') === '' || entry.fieldsType !== 'FieldsV1') return undefined;
    try {
      const decoded = entryFrom(entry, decodeFieldsV1(entry.fieldsV1));
      const time = decoded.time === '' ? undefined : parseTime(decoded.time);
      const known = { ...decoded, time: time === undefined ? '' : formatTime(time) };
      // If a manager has several entries, the last one counts, as in a map.
      managers.set(managerIdentifier(known), known);
    } catch (error) {
      if (error instanceof PathElementError) return undefined;
      throw error;
    }
  }
  return [...managers.values()];
}

/** The problem of entries that {@link decodeManagers} cannot read, in upstream's words. */
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

/** True for an empty list or one empty entry, by which a client resets managedFields (API-219). */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first] = entries;
  if (first === undefined) return true;
  // Go treats an empty member as absent.
  return entries.length === 1 && isJsonObject(first) && Object.values(first).every((value) => (value ?? '') === '');
}

/**
 * The entries that a write starts from (API-219): the client's entries if they are not empty and can be read, otherwise the stored ones.
 */
export function requestedManagers(
  sent: readonly ManagedFieldsEntry[],
  stored: readonly ManagedFieldsEntry[] | undefined,
): Managers {
  if (isReset(sent)) return [];
  const managers = decodeManagers(sent);
  return managers === undefined || managers.length === 0 ? storedManagers(stored) : managers;
}

/**
 * The stored order: appliers first, then by age, oldest first (API-215). Managers without fields are left out. Undefined if no manager is
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

/** The time of an entry, in whole seconds. `now` is in epoch ms. */
export function entryTime(now: number): string {
  return formatTime(now);
}
