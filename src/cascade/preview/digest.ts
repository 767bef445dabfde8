import { createHash, type Hash } from 'node:crypto';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { CascadePlan, Outcome } from '../documents/cascade-plan.ts';

/** Number of digits that people see. */
const SHORT = 12;
/** Number of lines that the hash takes in one call, because a call costs more than a line. */
const LINES_AT_ONCE = 200;

/** The state of one object on which a plan rests (CAS-016). */
export interface DigestedObject {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  readonly references: readonly Pick<OwnerReference, 'uid' | 'controller' | 'blockOwnerDeletion'>[];
  readonly finalizers: readonly string[];
  readonly outcome: Outcome;
}

/** A text of these characters needs no escapes in JSON, and is in the same order as its JSON text. */
const PLAIN = /^[\w.-]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** One object's line of the digest. It begins with the uid. */
function digestLine({ uid, resourceVersion, references, finalizers, outcome }: DigestedObject): string {
  let owners = '';
  for (const { uid: owner, controller, blockOwnerDeletion } of references) {
    const comma = owners === '' ? '' : ',';
    owners += `${comma}[${quoted(owner)},${controller === true},${blockOwnerDeletion === true}]`;
  }
  const held = finalizers.length === 0 ? '[]' : JSON.stringify(finalizers.toSorted());
  // Texts of parts that need no escapes, because a cascade may have a million lines.
  return `[${quoted(uid)},${quoted(resourceVersion ?? '')},[${owners}],${held},"${outcome}"]`;
}

interface Digested extends Pick<CascadePlan, 'assumeFinalizers' | 'roots'> {
  /** The places of the objects, in the order of {@link orderByUid}. */
  readonly places: Uint32Array;
  objectAt(place: number): DigestedObject;
}

/** SHA-256 over roots, policies, and every touched object: equal cluster states and requests have equal digests. */
export function digestOf({ assumeFinalizers, roots, places, objectAt }: Digested): string {
  const hash = createHash('sha256');
  const line = (text: string): Hash => hash.update(`${text}\n`);
  line(JSON.stringify(['kubegc.io/v1alpha1', assumeFinalizers]));
  for (const { ref, policy } of roots.toSorted((a, b) => (a.ref.uid < b.ref.uid ? -1 : 1))) {
    line(JSON.stringify([ref.uid, policy]));
  }
  let lines = '';
  let count = 0;
  for (const place of places) {
    lines += `${digestLine(objectAt(place))}\n`;
    if (++count % LINES_AT_ONCE > 0) continue;
    hash.update(lines);
    lines = '';
  }
  hash.update(lines);
  return hash.digest('hex');
}

/** Leading digits of a uid that are compared as a number, of four bits each. */
const KEY_DIGITS = 8;
const KEY_BITS = KEY_DIGITS * 4;
/** Bits of the largest integer that a number holds exactly. */
const EXACT_BITS = 53;

/** The places of distinct uids in the order of their JSON texts. A sort of numbers, because one of a million texts takes seconds. */
export function orderByUid(count: number, uidAt: (place: number) => string): Uint32Array {
  const placeBits = 32 - Math.clz32(count);
  const factor = 2 ** placeBits;
  const dropped = Math.max(0, KEY_BITS + placeBits - EXACT_BITS);
  const keys = new Float64Array(count);
  let areHex = true;
  for (let place = 0; place < count; place++) {
    const key = areHex ? keyOf(uidAt(place)) : -1;
    if (key < 0) areHex = false;
    keys[place] = (key >>> dropped) * factor + place;
  }
  // Other uids have no key.
  if (!areHex) for (let place = 0; place < count; place++) keys[place] = place;
  keys.sort();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = keys[i]! % factor;
  const rank = (i: number): number => Math.floor(keys[i]! / factor);
  for (let from = 0; from < count;) {
    let to = from + 1;
    while (to < count && rank(to) === rank(from)) to++;
    if (to - from > 1) sortByText(order.subarray(from, to), uidAt);
    from = to;
  }
  return order;
}

/** The first digits as an unsigned number; -1 if they are no lower-case hexadecimal digits. */
function keyOf(uid: string): number {
  let key = 0;
  for (let i = 0; i < KEY_DIGITS; i++) {
    const code = uid.charCodeAt(i);
    const isDigit = code >= 48 && code <= 57;
    if (!isDigit && !(code >= 97 && code <= 102)) return -1;
    key = (key << 4) | (isDigit ? code - 48 : code - 87);
  }
  return key >>> 0;
}

function sortByText(places: Uint32Array, uidAt: (place: number) => string): void {
  const arePlain = places.every((place) => PLAIN.test(uidAt(place)));
  const textAt = arePlain ? uidAt : (place: number): string => JSON.stringify(uidAt(place));
  places.sort((a, b) => (textAt(a) < textAt(b) ? -1 : 1));
}

/** The first digits, which suffice for a person and a command line. */
export function shortDigest(digest: string): string {
  return digest.slice(0, SHORT);
}

/** True if a typed text names the digest: at least its first twelve digits. */
export function namesDigest(typed: string, digest: string): boolean {
  return typed.length >= SHORT && digest.startsWith(typed.toLowerCase());
}
