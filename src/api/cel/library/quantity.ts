import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityAsNumber,
  QuantityError,
} from '../../quantity.ts';
import { traversalCost } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, opaqueType } from '../cel-type.ts';
import { asInt, asText, CelHostValue, type CelValue, MAX_INT, MIN_INT } from '../cel-value.ts';
import { type CelFunctions, member, overload } from '../function-declaration.ts';

const { bool, double, int, string } = celTypes;

export const quantityType: CelType = opaqueType('kubernetes.Quantity');

class QuantityValue extends CelHostValue {
  readonly type = quantityType;
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }
}

function parse(text: string): Quantity | QuantityError {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return error;
    throw error;
  }
}

function quantityOf(value: CelValue): Quantity {
  if (value instanceof QuantityValue) return value.quantity;
  throw noSuchOverload();
}

/** The value as an int64; undefined for fractions and for values that are too large. */
function integerOf({ unscaled, scale }: Quantity): bigint | undefined {
  const divisor = 10n ** BigInt(Math.max(-scale, 0));
  if (unscaled % divisor !== 0n) return undefined;
  const value = (unscaled / divisor) * 10n ** BigInt(Math.max(scale, 0));
  return value <= MAX_INT && value >= MIN_INT ? value : undefined;
}

/** Keeps the format of the first operand. */
function combine(one: Quantity, other: Quantity, sign: 1n | -1n): QuantityValue {
  const scale = Math.min(one.scale, other.scale);
  const at = (quantity: Quantity): bigint => quantity.unscaled * 10n ** BigInt(quantity.scale - scale);
  return new QuantityValue({ unscaled: at(one) + sign * at(other), scale, format: one.format });
}

const whole = (value: bigint): Quantity => ({ unscaled: value, scale: 0, format: 'DecimalSI' });

const compared = { args: [quantityType, quantityType], result: bool };
const computed = { args: [quantityType, quantityType], result: quantityType };
const computedWithInt = { args: [quantityType, int], result: quantityType };

/** `kubernetes.quantity`. */
export const quantity: CelFunctions = {
  quantity: [
    overload('string_to_quantity', { args: [string], result: quantityType, cost: traversalCost() }, (text = null) => {
      const parsed = parse(asText(text));
      if (parsed instanceof QuantityError) throw new CelEvaluationError(parsed.message);
      return new QuantityValue(parsed);
    }),
  ],
  isQuantity: [
    overload(
      'is_quantity_string',
      { args: [string], result: bool, cost: traversalCost() },
      (text = null) => !(parse(asText(text)) instanceof QuantityError),
    ),
  ],
  sign: [
    member('quantity_sign', { args: [quantityType], result: int }, (value = null) => {
      const { unscaled } = quantityOf(value);
      return unscaled < 0n ? -1n : unscaled > 0n ? 1n : 0n;
    }),
  ],
  isGreaterThan: [
    member(
      'quantity_is_greater_than',
      compared,
      (one = null, other = null) => compareQuantities(quantityOf(one), quantityOf(other)) > 0,
    ),
  ],
  isLessThan: [
    member(
      'quantity_is_less_than',
      compared,
      (one = null, other = null) => compareQuantities(quantityOf(one), quantityOf(other)) < 0,
    ),
  ],
  compareTo: [
    member('quantity_compare_to', { ...compared, result: int }, (one = null, other = null) =>
      BigInt(Math.sign(compareQuantities(quantityOf(one), quantityOf(other)))),
    ),
  ],
  asApproximateFloat: [
    member('quantity_get_float', { args: [quantityType], result: double }, (value = null) =>
      quantityAsNumber(quantityOf(value)),
    ),
  ],
  asInteger: [
    member('quantity_get_int', { args: [quantityType], result: int }, (value = null) => {
      const integer = integerOf(quantityOf(value));
      if (integer === undefined) throw new CelEvaluationError('cannot convert value to integer');
      return integer;
    }),
  ],
  isInteger: [
    member(
      'quantity_is_integer',
      { args: [quantityType], result: bool },
      (value = null) => integerOf(quantityOf(value)) !== undefined,
    ),
  ],
  add: [
    member('quantity_add', computed, (one = null, other = null) => combine(quantityOf(one), quantityOf(other), 1n)),
    member('quantity_add_int', computedWithInt, (one = null, other = null) =>
      combine(quantityOf(one), whole(asInt(other)), 1n),
    ),
  ],
  sub: [
    member('quantity_sub', computed, (one = null, other = null) => combine(quantityOf(one), quantityOf(other), -1n)),
    member('quantity_sub_int', computedWithInt, (one = null, other = null) =>
      combine(quantityOf(one), whole(asInt(other)), -1n),
    ),
  ],
  string: [
    overload('quantity_to_string', { args: [quantityType], result: string }, (value = null) =>
      formatQuantity(quantityOf(value)),
    ),
  ],
};
