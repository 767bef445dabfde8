import type { Random } from '../../../src/base/random/random.ts';
import { type OwnerPlan, type Place, placeOf, type PlaceText, placeText } from './plan.ts';
import type { PlanStyle } from './plan-style.ts';
import { kindNamed } from './simulated-kinds.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
/** Both are there from the start. */
const NAMESPACES = ['default', 'kube-public'];

/** The few places that a history is about, and roughly what is there, so that most steps concern something. */
export class PlanGround {
  readonly kinds: readonly string[];
  readonly #random: Random;
  readonly #style: PlanStyle;
  readonly #places: readonly PlaceText[];
  /** Places where something was created, newest last; some more than once. */
  readonly #made: PlaceText[] = [];
  #there = new Set<PlaceText>();

  constructor(random: Random, style: PlanStyle, kinds: readonly string[]) {
    this.#random = random;
    this.#style = style;
    this.kinds = kinds;
    const namespaces = random.integer(3) === 0 ? NAMESPACES : NAMESPACES.slice(0, 1);
    const names = NAMES.slice(0, 1 + random.integer(NAMES.length));
    const places = new Set<PlaceText>();
    // Fewer where there are not so many.
    for (let tries = 0; places.size < style.places && tries < 4 * style.places; tries++) {
      const kind = kinds[tries] ?? random.pick(kinds);
      const namespace = kindNamed(kind).namespaced ? random.pick(namespaces) : '';
      places.add(placeText({ kind, namespace, name: random.pick(names) }));
    }
    this.#places = [...places];
  }

  /** Nothing is there that anything could happen to. */
  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  /** Any. */
  place(): PlaceText {
    return this.#random.pick(this.#places);
  }

  /** Mostly one where nothing is. */
  free(): PlaceText {
    const free = this.#places.filter((at) => !this.#there.has(at));
    return free.length > 0 && this.#random.integer(5) > 0 ? this.#random.pick(free) : this.place();
  }

  /** Mostly one where something is. */
  taken(): PlaceText {
    return this.#there.size > 0 && this.#random.integer(10) > 0 ? this.#random.pick([...this.#there]) : this.place();
  }

  /** Places that an object here may refer to; none but others if there are any. Never empty. */
  near(at: PlaceText): readonly PlaceText[] {
    const { namespace } = placeOf(at);
    const others = this.#places.filter((place) => place !== at);
    const near = others.filter((place) => ['', namespace].includes(placeOf(place).namespace));
    if (near.length > 0) return near;
    return others.length > 0 ? others : this.#places;
  }

  created(at: PlaceText): void {
    this.#made.push(at);
    this.#there.add(at);
  }

  deleted(at: PlaceText): void {
    this.#there.delete(at);
  }

  collectionDeleted({ kind, namespace }: Pick<Place, 'kind' | 'namespace'>): void {
    this.#there = new Set([...this.#there].filter((text) => !text.startsWith(`${kind}/${namespace}/`)));
  }

  /** The answer has it as it is now. */
  remember(): () => void {
    const [there, made] = [[...this.#there], this.#made.length];
    return () => {
      this.#there = new Set(there);
      this.#made.length = made;
    };
  }

  /** Mostly to what was made in reach. */
  owners(at: PlaceText): OwnerPlan[] {
    const owners: OwnerPlan[] = [];
    for (let left = this.#random.pick([0, 0, 1, 1, 1, 1, 2, 2, 3]); left > 0; left--) owners.push(this.owner(at));
    const [first] = owners;
    if (first !== undefined && this.#isOdd()) owners.push(this.reference(first.at));
    return owners;
  }

  /** An owner that an object here may refer to, in some way. */
  owner(at: PlaceText): OwnerPlan {
    const { namespace } = placeOf(at);
    const near = this.#made.filter((made) => ['', namespace].includes(placeOf(made).namespace));
    if (this.#isOdd() && this.#random.integer(4) === 0) {
      const out = this.#random.pick(this.#made.length > 0 ? this.#made : this.#places);
      return this.reference(out);
    }
    const from = near.length > 0 ? near.slice(-12) : this.#places;
    return this.reference(this.#random.pick(from));
  }

  /** A reference to what is at a place, or was; now and then a wrong one. */
  reference(at: PlaceText): OwnerPlan {
    const random = this.#random;
    const block = random.float() < this.#style.blocking ? ({ block: true } as const) : {};
    if (!this.#isOdd()) return { at, ...block };
    switch (random.integer(6)) {
      case 0:
        return { at, before: 9, ...block };
      case 1:
        return { at, named: random.pick(NAMES), ...block };
      case 2:
        return { at, as: random.pick(this.kinds), ...block };
      default:
        return { at, before: 1, ...block };
    }
  }

  #isOdd(): boolean {
    return this.#random.float() < this.#style.odd;
  }
}
