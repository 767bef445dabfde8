import { readFile } from 'node:fs/promises';
import { parseYamlStrict } from '../../api/codec/yaml/yaml.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { GuardBudget } from '../../cascade/guard/budget.ts';
import { CommandError, systemReason } from '../process/command-error.ts';

const NEXT =
  'Give a list "budgets" whose entries have users, groups, perDelete, perDeleteOf, perHour, perHourOf (docs/protect.md).';
const RESOURCE = /^[a-z0-9-]+(\.[a-z0-9.-]+)?$/;

/** Reads the budgets of a YAML or JSON file. Rejects with a {@link CommandError} that names the entry and the field. */
export async function readBudgets(file: string): Promise<readonly GuardBudget[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the budgets ${file}: ${systemReason(error)}`, 'Choose another file.', {
      cause: error,
    });
  }
  try {
    return parseBudgets(text);
  } catch (error) {
    throw new CommandError(`the budgets ${file} are wrong: ${messageOf(error)}`, NEXT, { cause: error });
  }
}

/** Throws an Error that names the problem: a typing error must not remove a limit. */
export function parseBudgets(text: string): readonly GuardBudget[] {
  const { value, repeated } = parseYamlStrict(text);
  const [twice] = repeated;
  if (twice !== undefined) throw new Error(twice);
  const { budgets, ...rest } = mapping(value, 'the document');
  noMore(rest, 'the document');
  if (!Array.isArray(budgets)) throw new Error('"budgets" is no list');
  return budgets.map((entry: unknown, i) => {
    const where = `budgets[${i}]`;
    const { users, groups, perDelete, perHour, perDeleteOf, perHourOf, ...unknown } = mapping(entry, where);
    noMore(unknown, where);
    const budget: GuardBudget = {
      ...(users === undefined ? {} : { users: names(users, `${where}.users`) }),
      ...(groups === undefined ? {} : { groups: names(groups, `${where}.groups`) }),
      ...(perDelete === undefined ? {} : { perDelete: whole(perDelete, `${where}.perDelete`) }),
      ...(perHour === undefined ? {} : { perHour: whole(perHour, `${where}.perHour`) }),
      ...(perDeleteOf === undefined ? {} : { perDeleteOf: byResource(perDeleteOf, `${where}.perDeleteOf`) }),
      ...(perHourOf === undefined ? {} : { perHourOf: byResource(perHourOf, `${where}.perHourOf`) }),
    };
    return budget;
  });
}

function mapping(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${where} is no mapping`);
}

function noMore(rest: object, where: string): void {
  const [first] = Object.keys(rest);
  if (first !== undefined) throw new Error(`${where} has an unknown field "${first}"`);
}

function names(value: unknown, where: string): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0;
  if (isList && value.every((each) => typeof each === 'string' && each !== '')) return value as string[];
  throw new Error(`${where} is no list of names`);
}

function whole(value: unknown, where: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new Error(`${where} is no whole number`);
}

function byResource(value: unknown, where: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(mapping(value, where)).map(([resource, most]) => {
      if (!RESOURCE.test(resource))
        throw new Error(`${where} has "${resource}", which is no RESOURCE or RESOURCE.GROUP`);
      return [resource, whole(most, `${where}.${resource}`)];
    }),
  );
}
