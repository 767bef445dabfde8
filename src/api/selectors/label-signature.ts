import { LABEL_PLACES } from '../codec/metadata/json-labels.ts';
import type { LabelSelector } from './label-selector.ts';

/**
 * A Bloom filter of 64 bits over a set of labels: one bit for each key, two for each key with its value. The labels of an object that
 * matches a selector have all bits of {@link requiredSignature}; most other objects lack one. So most objects can be skipped by comparing
 * two numbers, and only the rest has to be read.
 */
export interface LabelSignature {
  /** Signed 32 bits each. */
  readonly low: number;
  readonly high: number;
}

/** The signature of unknown labels, which may match any selector. */
export const UNKNOWN_LABELS: LabelSignature = { low: -1, high: -1 };

/** The signature of no labels. As a requirement, every object meets it. */
export const NO_LABELS: LabelSignature = { low: 0, high: 0 };

export function mayHave({ low, high }: LabelSignature, required: LabelSignature): boolean {
  return (low & required.low) === required.low && (high & required.high) === required.high;
}

/** The signature that {@link mayHave} accepts if it accepts either operand. */
export function union(left: LabelSignature, right: LabelSignature): LabelSignature {
  return { low: left.low | right.low, high: left.high | right.high };
}

/** Bits that the labels of every matching object have. */
export function requiredSignature(selector: LabelSelector): LabelSignature {
  const bits = new Bits();
  for (const { key, operator, values } of selector.requirements) {
    // Objects without the label match these operators.
    if (operator === '!' || operator === '!=' || operator === 'notin') continue;
    const text = Buffer.from(key);
    const hash = hashOf(text, 0, text.length, SEED);
    bits.key(hash);
    // One of several values, and the operators gt and lt, require only the key's bits.
    if (operator === 'exists' || operator === 'gt' || operator === 'lt' || values.length !== 1) continue;
    const value = Buffer.from(values[0] ?? '');
    bits.pair(hashOf(value, 0, value.length, hash));
  }
  return bits.signature();
}

/** The signature of labels in a JSON text: see {@link JsonLabels}. */
export function signatureOfPlaces(json: Uint8Array, places: readonly number[]): LabelSignature {
  const bits = new Bits();
  for (let i = 0; i < places.length; i += LABEL_PLACES) {
    const hash = hashOf(json, places[i]!, places[i + 1]!, SEED);
    bits.key(hash);
    bits.pair(hashOf(json, places[i + 2]!, places[i + 3]!, hash));
  }
  return bits.signature();
}

class Bits {
  #low = 0;
  #high = 0;

  key(hash: number): void {
    this.#set(mixed(hash));
  }

  pair(hash: number): void {
    // The hash of the value continues from the hash of the key, and an empty value gives other bits than the key alone.
    const bits = mixed(hash ^ PAIR);
    this.#set(bits);
    this.#set(bits >>> 6);
  }

  signature(): LabelSignature {
    return { low: this.#low, high: this.#high };
  }

  #set(position: number): void {
    if ((position & 32) === 0) this.#low |= 1 << (position & 31);
    else this.#high |= 1 << (position & 31);
  }
}

/** FNV-1a. */
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;
const PAIR = 0x5bd1e995;

function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, PRIME);
  return hash;
}

/** Spreads a hash over its lower bits, because FNV leaves them equal for texts that differ only in their last characters. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
