import { PLACE, PLACE_REVISION, PLACE_TEXT, PLACE_TIME } from './json-metadata.ts';
import { secondsOfJsonTime } from './json-time.ts';

/** An object's JSON text, without its resourceVersion. */
export interface TemplateSource {
  readonly value: Uint8Array;
  readonly modRevision: number;
}

/** Up to this length, a loop is faster than a call into the runtime. */
const SHORT = 48;
/** Times whose seconds have a varint of this length are copied: from 1978 to 3058. */
const TIME_BYTES = 5;

/**
 * The protobuf form of metadata without the parts that differ between objects. Objects of one origin (the Pods of a ReplicaSet, say) have
 * names, labels and fields of the same length at the same positions. So one copy of the template makes the message, a few more copies
 * insert the object's own texts, and nothing is parsed again. A template is assigned to an object only after it produced the right bytes,
 * and the text of an object never changes.
 */
export class MetadataTemplate {
  readonly #message: Uint8Array;
  /** Start and end of each text in the object, and its position in the message. */
  readonly #texts: Int32Array;
  /** Position of each time in the object and in the message. */
  readonly #times: Int32Array;
  /** The position after the last digit of resourceVersion. */
  readonly #revisionEnd: number;

  /** `places` are the positions that {@link JsonMetadata.write} notes, in a message that ends with the metadata. */
  constructor(message: Uint8Array, places: readonly number[], { modRevision }: TemplateSource) {
    this.#message = message;
    const [texts, times]: [number[], number[]] = [[], []];
    let revisionEnd = 0;
    for (let i = 0; i < places.length; i += PLACE) {
      const [start, end, at] = [places[i + 1]!, places[i + 2]!, message.length - places[i + 3]!];
      if (places[i] === PLACE_TEXT && end > start) texts.push(start, end, at);
      if (places[i] === PLACE_TIME) times.push(start, at);
      if (places[i] === PLACE_REVISION) revisionEnd = at + String(modRevision).length;
    }
    this.#texts = Int32Array.from(texts);
    this.#times = Int32Array.from(times);
    this.#revisionEnd = revisionEnd;
  }

  get length(): number {
    return this.#message.length;
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return 300 + this.#message.length + this.#texts.byteLength + this.#times.byteLength;
  }

  /** Writes the message of an object that has this template; returns the offset behind it. */
  fill(target: Uint8Array, offset: number, { value, modRevision }: TemplateSource): number {
    target.set(this.#message, offset);
    const texts = this.#texts;
    for (let i = 0; i < texts.length; i += 3) {
      const start = texts[i]!;
      const end = texts[i + 1]!;
      let at = offset + texts[i + 2]!;
      if (end - start > SHORT) target.set(value.subarray(start, end), at);
      else for (let from = start; from < end; from++) target[at++] = value[from]!;
    }
    const times = this.#times;
    for (let i = 0; i < times.length; i += 2) {
      writeSeconds(target, offset + times[i + 1]!, secondsOfJsonTime(value, times[i]!));
    }
    let rest = modRevision;
    for (let at = offset + this.#revisionEnd; rest > 0; rest = Math.floor(rest / 10)) target[--at] = 0x30 + (rest % 10);
    return offset + this.#message.length;
  }
}

/** Writes a varint of {@link TIME_BYTES}. */
function writeSeconds(target: Uint8Array, at: number, seconds: number): void {
  let rest = seconds;
  for (let i = 0; i < TIME_BYTES - 1; i++) {
    target[at + i] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 128);
  }
  target[at + TIME_BYTES - 1] = rest;
}

/** Maximum bytes of all live templates together, and the maximum length of one message. */
const MOST_BYTES = 8 * 1024 * 1024;
const LONGEST = 64 * 1024;

/** The registry of templates. A template lives as long as an object uses it, and no new one is created beyond {@link MOST_BYTES}. */
export class MetadataTemplates {
  readonly #byHash = new Map<number, WeakRef<MetadataTemplate>>();
  readonly #gone = new FinalizationRegistry<Entry>(({ hash, bytes }) => this.#forget(hash, bytes));
  readonly #most: number;
  #bytes = 0;
  #scratch = new Uint8Array(0);

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** The bytes of all templates that may still be alive. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The template that makes the `message` of `source`. Does not keep `message`. Undefined if there is none and no space for one. */
  of(message: Uint8Array, places: readonly number[], source: TemplateSource): MetadataTemplate | undefined {
    if (message.length > LONGEST) return undefined;
    const hash = hashOf(places);
    const known = this.#byHash.get(hash)?.deref();
    if (known !== undefined) return this.#makes(known, message, source) ? known : undefined;
    const template = new MetadataTemplate(new Uint8Array(message), places, source);
    if (this.#bytes + template.bytes > this.#most || !this.#makes(template, message, source)) return undefined;
    this.#bytes += template.bytes;
    this.#byHash.set(hash, new WeakRef(template));
    this.#gone.register(template, { hash, bytes: template.bytes });
    return template;
  }

  #makes(template: MetadataTemplate, message: Uint8Array, source: TemplateSource): boolean {
    if (template.length !== message.length) return false;
    if (this.#scratch.length < message.length) this.#scratch = new Uint8Array(2 * message.length);
    template.fill(this.#scratch, 0, source);
    return Buffer.compare(this.#scratch.subarray(0, message.length), message) === 0;
  }

  #forget(hash: number, bytes: number): void {
    this.#bytes -= bytes;
    // Another template may have replaced it.
    if (this.#byHash.get(hash)?.deref() === undefined) this.#byHash.delete(hash);
  }
}

interface Entry {
  readonly hash: number;
  readonly bytes: number;
}

function hashOf(numbers: readonly number[]): number {
  let hash = numbers.length;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
