import { type FieldInfo, META_V1, isSpecialType, structFieldsOf, typeInfo } from '../../kinds/type-table.ts';
import type { ScalarType, SpecialType } from '../../kinds/type-table.ts';

/** The form of one value: the elements of a list, the values of a map, or the field itself. */
export type ValueType = ScalarType | SpecialType | 'message';

export interface FieldPlan {
  readonly number: number;
  readonly name: string;
  /** Index into the slots of its message, which is also its position in JSON. */
  readonly slot: number;
  readonly shape: 'single' | 'list' | 'map';
  /** The list, or each list in the map, is wrapped in a message `{1: items}`. */
  readonly namedList: boolean;
  readonly value: ValueType;
  /** Type name of a message. */
  readonly type: string;
  readonly pointer: boolean;
  readonly omitempty: boolean;
  /** Zero values are left out of JSON although the field is a struct (Go's `omitzero`). */
  readonly omitzero: boolean;
  /** The declaring type, for error messages. */
  readonly owner: string;
}

/** An embedded struct: in JSON its fields stand in the outer object, in protobuf it is a nested message. */
export interface InlinePlan {
  readonly number: number;
  readonly inline: LevelPlan;
}

/** One message on the wire. */
export interface LevelPlan {
  readonly byNumber: ReadonlyMap<number, FieldPlan | InlinePlan>;
  /** The fields in descending order of numbers, as the writer needs them. */
  readonly descending: readonly (FieldPlan | InlinePlan)[];
}

/** One struct: the levels of its message and the fields of its JSON object in order of declaration. */
export interface MessagePlan extends LevelPlan {
  readonly typeName: string;
  readonly slots: readonly FieldPlan[];
}

const plans = new Map<string, MessagePlan>();

/** Undefined for types that are not structs of the type table. */
export function planOf(typeName: string): MessagePlan | undefined {
  let plan = plans.get(typeName);
  if (plan === undefined) {
    if (typeInfo(typeName) === undefined) return undefined;
    const slots: FieldPlan[] = [];
    plan = { typeName, slots, ...levelOf(typeName, slots) };
    plans.set(typeName, plan);
  }
  return plan;
}

function levelOf(typeName: string, slots: FieldPlan[]): LevelPlan {
  const entries: (FieldPlan | InlinePlan)[] = [];
  for (const field of structFieldsOf(typeName)) {
    // Skips TypeMeta, and the few types that have no protobuf form.
    if (field.number === 0) continue;
    if (field.inline) {
      entries.push({ number: field.number, inline: levelOf(field.type, slots) });
      continue;
    }
    const plan = fieldPlanOf(typeName, field, slots.length);
    slots.push(plan);
    entries.push(plan);
  }
  return {
    byNumber: new Map(entries.map((entry) => [entry.number, entry])),
    descending: entries.toSorted((a, b) => b.number - a.number),
  };
}

function fieldPlanOf(owner: string, field: FieldInfo, slot: number): FieldPlan {
  return {
    number: field.number,
    name: field.name,
    slot,
    shape: field.map ? 'map' : field.list ? 'list' : 'single',
    namedList: field.namedList,
    value: valueTypeOf(field.type),
    type: field.type,
    pointer: field.pointer,
    omitempty: field.omitempty,
    omitzero: owner === `${META_V1}.ObjectMeta` && field.name === 'creationTimestamp',
    owner,
  };
}

function valueTypeOf(type: string): ValueType {
  if (isSpecialType(type)) return type;
  return typeInfo(type) === undefined ? (type as ScalarType) : 'message';
}
