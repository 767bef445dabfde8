/**
 * The answers that the writers of the load got, and the events that its readers saw, in a form in which both can be compared: events of a
 * group of objects as a number and a sum, in which order plays no part (each reader judges the order: revisions must rise).
 */

/** A write that the server acknowledged. */
export interface Acknowledged {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly name: string;
  readonly group: number;
  /** The revision in the answer; that of a deletion names none. */
  readonly revision: number;
  /** The size of the object and of its state before, about: the server keeps both in the event for watches. */
  readonly bytes: number;
}

/** 32 bits (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Events counted and summed: equal tallies are the same events, each as often. A deletion goes by its name, others by their revision too. */
export class Tally {
  count = 0;
  sum = 0;

  add(type: string, name: string, revision: number): void {
    this.count++;
    // Sums of 32 bits stay exact for two million events.
    this.sum += hashOf(type === 'DELETED' ? `${type} ${name}` : `${type} ${name} ${revision}`);
  }

  toString(): string {
    return `${this.count} events, sum ${this.sum}`;
  }
}

/** Groups of watchers: `0..GROUPS-1` see one group, the rest everything. */
export const GROUPS = 99;
export const configMaps = '/api/v1/namespaces/default/configmaps';
