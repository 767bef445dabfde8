import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { type FieldSelector, parseFieldSelector } from '../../api/selectors/field-selector.ts';
import type { ShardSelector } from '../../api/selectors/shard-selector.ts';
import { type LabelSelector, parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { LabelTextMatcher } from '../../api/selectors/label-text-matcher.ts';
import { type LabelSignature, NO_LABELS, requiredSignature } from '../../api/selectors/label-signature.ts';
import {
  checkFieldSelector,
  matchesFields,
  type SelectableFields,
  selectableFields,
  unknownFieldWording,
} from '../../api/selectors/selectable-fields.ts';
import { storedLabelPlaces } from '../storage/stored-json.ts';
import type { ServedObject } from './object/served-object.ts';

export interface Selectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Absent also while the feature is off. */
  readonly shards?: ShardSelector | undefined;
}

/** A resource to select from, with the selectable fields of a custom one's definition. */
export interface Selectable {
  readonly info: ResourceInfo;
  readonly strategy: { readonly selectableFields?: SelectableFields };
}

/** The objects that a list, watch or deletion of a collection selects (API-101..103). */
export class Selection {
  readonly namespace: string;
  /** The only name that can match; undefined if any can. */
  readonly name: string | undefined;
  /** Two selections of one resource and namespace with the same text select the same objects. */
  readonly text: string;
  /** The label bits that every matching object has. */
  readonly signature: LabelSignature;
  readonly shards: ShardSelector | undefined;
  readonly #labels: LabelSelector | undefined;
  readonly #labelText: LabelTextMatcher | undefined;
  readonly #fields: FieldSelector | undefined;
  /** True if the selector uses a field outside of the metadata. */
  readonly #looksInside: boolean;
  readonly #selectable: SelectableFields;

  /** Throws a 400 for selectors that are malformed or name an unknown field. `namespace` is that of the path, empty for all. */
  constructor({ info, strategy }: Selectable, namespace: string, selectors: Selectors) {
    const labels = selectors.labelSelector === '' ? undefined : parseLabelSelector(selectors.labelSelector);
    this.#labels = labels?.empty === true ? undefined : labels;
    this.#labelText = this.#labels === undefined ? undefined : new LabelTextMatcher(this.#labels);
    this.signature = labels === undefined ? NO_LABELS : requiredSignature(labels);
    this.shards = selectors.shards;
    this.text = JSON.stringify([selectors.labelSelector, selectors.fieldSelector, this.shards?.text]);
    const fields = selectors.fieldSelector === '' ? undefined : parseFieldSelector(selectors.fieldSelector);
    this.#fields = fields?.empty === true ? undefined : fields;
    this.#looksInside = fields?.requirements.some(({ field }) => !field.startsWith('metadata.')) === true;
    const custom = info.typeName === undefined;
    this.#selectable = strategy.selectableFields ?? selectableFields(info.group, info.resource);
    if (this.#fields !== undefined) {
      const wording = custom ? 'fieldLabel' : unknownFieldWording(info.group, info.resource);
      const unknown = checkFieldSelector(this.#fields, this.#selectable, wording);
      if (unknown !== undefined) throw unknown;
    }
    this.name = this.#fields?.exact('metadata.name');
    const only = info.namespaced && namespace === '' ? this.#fields?.exact('metadata.namespace') : undefined;
    this.namespace = only ?? namespace;
  }

  /** The number of keys and values that a match compares at most. */
  get terms(): number {
    let terms = 0;
    for (const { values } of this.#labels?.requirements ?? []) terms += 1 + values.length;
    return terms;
  }

  /** True if metadata alone cannot decide a match. */
  get looksInside(): boolean {
    return this.#looksInside;
  }

  /** True without a selector: every object of the namespace matches. */
  get everything(): boolean {
    return this.#labels === undefined && this.#fields === undefined && this.shards === undefined;
  }

  /** Compares labels first, because they are cheapest to read. */
  matches(candidate: Pick<ServedObject, 'object' | 'metadata' | 'labels'>): boolean {
    if (this.#labels !== undefined && !this.#labels.matches(candidate.labels())) return false;
    return this.matchesFields(candidate);
  }

  /** The labels of an object from its stored bytes, if the version has the same labels; `unknown` if the bytes must be parsed. */
  judgeLabels(stored: Uint8Array): 'match' | 'no match' | 'unknown' {
    if (this.#labelText === undefined) return 'match';
    const places = storedLabelPlaces(stored);
    if (places === 'parse') return 'unknown';
    return this.#labelText.matches(stored, places) ? 'match' : 'no match';
  }

  /** The part of {@link matches} that does not concern labels. */
  matchesFields(candidate: Pick<ServedObject, 'object' | 'metadata'>): boolean {
    if (this.shards?.matches(candidate.metadata()) === false) return false;
    if (this.#fields === undefined) return true;
    const object = this.#looksInside ? candidate.object() : { metadata: candidate.metadata() };
    return matchesFields(this.#fields, this.#selectable, object);
  }
}
