import { isJsonObject } from '../codec/json/json-value.ts';
import { quoted } from '../meta/quoted.ts';
import { boundElements, listElementOf } from './list-element.ts';
import { formatElement, formatValue } from './path-element.ts';
import { formOf, type ListSchema, type MapSchema, memberType, type ScalarSchema, type TypeSchema } from './schema.ts';
import { TypedValueError } from './typed-value-error.ts';

/**
 * Checks that a value fits its type, that each field is declared, and that each list element occurs once (API-223). Stored objects may have
 * duplicate elements.
 * @throws TypedValueError with every problem found
 */
export function validateTyped(value: unknown, type: TypeSchema, duplicates: 'refused' | 'allowed' = 'refused'): void {
  const problems: string[] = [];
  check(value, type, { path: '', problems, duplicates });
  if (problems.length > 0) throw new TypedValueError(problems);
}

interface Position {
  readonly path: string;
  readonly problems: string[];
  readonly duplicates: 'refused' | 'allowed';
}

function report({ path, problems }: Position, problem: string): void {
  problems.push(path === '' ? problem : `${path}: ${problem}`);
}

function check(value: unknown, type: TypeSchema, at: Position): void {
  if (value === null) return;
  switch (formOf(type, value)) {
    case 'scalar': {
      const problem = scalarProblem(value, type.scalar!);
      if (problem !== undefined) report(at, problem);
      return;
    }
    case 'list':
      if (Array.isArray(value)) checkList(value, type.list!, at);
      else report(at, `expected list, got ${shown(value)}`);
      return;
    default:
      if (isJsonObject(value)) checkMap(value, type.map!, at);
      else report(at, `expected map, got ${shown(value)}`);
  }
}

function scalarProblem(value: unknown, scalar: ScalarSchema): string | undefined {
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' || typeof value === 'bigint'
        ? undefined
        : `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${shown(value)}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got ${shown(value)}` : undefined;
  }
}

/** Go's `%#v` of a value. */
function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isJsonObject(value)) {
    const members = Object.keys(value).toSorted();
    return `map[string]interface {}{${members.map((key) => `${quoted(key)}:${goSyntax(value[key])}`).join(', ')}}`;
  }
  return typeof value === 'string' ? quoted(value) : String(value);
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  return typeof value === 'object' ? 'map[string]interface {}' : typeof value;
}

function shown(value: unknown): string {
  return `&{${formatValue(value)}}`;
}

function checkList(values: readonly unknown[], list: ListSchema, at: Position): void {
  const seen = new Set<string>();
  if (list.relationship === 'associative' && at.duplicates === 'refused') boundElements(values);
  for (const [index, value] of values.entries()) {
    let element = `i:${index}`;
    if (list.relationship === 'associative') {
      try {
        element = listElementOf(list, value);
      } catch (error) {
        if (!(error instanceof TypedValueError)) throw error;
        report(at, `element ${index}: ${error.message}`);
        return;
      }
      if (seen.has(element) && at.duplicates === 'refused')
        report(at, `duplicate entries for key ${formatElement(element)}`);
      seen.add(element);
    }
    check(value, list.element(), { ...at, path: at.path + formatElement(element) });
  }
}

function checkMap(value: Record<string, unknown>, map: MapSchema, at: Position): void {
  for (const name of Object.keys(value)) {
    const path = `${at.path}.${name}`;
    const type = memberType(map, name);
    if (type === undefined) {
      report({ ...at, path }, 'field not declared in schema');
      // As upstream, the first undeclared field stops the check of this map.
      return;
    }
    check(value[name], type, { ...at, path });
  }
}
