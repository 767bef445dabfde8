import { describe, expect, it } from 'vitest';
import type { CustomColumn } from './custom-columns.ts';
import { customPrinterColumns } from './custom-columns.ts';
import { findJsonPath, JsonPathError, parseJsonPath } from './cells/json-path.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const widget = {
  metadata: {
    name: 'w',
    creationTimestamp: '2026-01-01T11:59:00Z',
    annotations: { 'example.com/a.b': 'yes' },
  },
  spec: {
    text: 'hello',
    count: 3.7,
    ratio: 0.5,
    on: false,
    list: ['a', 'b', 'c'],
    empty: null,
    blank: '',
    map: { b: '<&>', a: [{ 9: 1, 10: null }] },
    deep: { x: { size: 1 }, size: 2 },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', score: 3 },
      { type: 'Failed', status: 'False', score: 7 },
    ],
  },
};

const columnsOf = (...columns: CustomColumn[]) => customPrinterColumns(columns);
const cellOf = (column: Omit<CustomColumn, 'name'>) => columnsOf({ name: 'C', ...column })[1]?.cell(widget, NOW);

describe('customPrinterColumns', () => {
  it('API-435 the name first, then what the definition says, described by its path', () => {
    const [name, replicas, other] = columnsOf(
      { name: 'Replicas', type: 'integer', format: 'int32', jsonPath: '.spec.replicas', priority: 1 },
      { name: 'Other', type: 'string', jsonPath: '.x', description: 'Own words.' },
    );
    expect(name).toMatchObject({ name: 'Name', type: 'string', format: 'name', priority: 0 });
    expect(replicas).toMatchObject({
      name: 'Replicas',
      type: 'integer',
      format: 'int32',
      priority: 1,
      description: 'Custom resource definition column (in JSONPath format): .spec.replicas',
    });
    expect(other).toMatchObject({ description: 'Own words.', format: '', priority: 0 });
  });

  it('API-435 without columns of its own a custom resource shows its age', () => {
    const columns = columnsOf();
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    expect(columns.map(({ cell }) => cell(widget, NOW))).toEqual(['w', '60s']);
  });

  const cells: readonly [CustomColumn['type'], string, unknown][] = [
    ['string', '.spec.text', 'hello'],
    ['string', '.spec.count', '3.7'],
    ['string', '.spec.on', 'false'],
    ['string', '.spec.list', '["a","b","c"]'],
    ['string', '.spec.missing', null],
    ['string', '.spec.empty', '<no value>'],
    ['string', '.spec.blank', ''],
    ['string', '.spec.map', String.raw`{"a":[{"10":null,"9":1}],"b":"\u003c\u0026\u003e"}`],
    ['string', '.spec.list[*]', 'a'],
    ['integer', '.spec.empty', null],
    ['integer', '.spec.count', 3],
    ['integer', '.spec.text', null],
    ['number', '.spec.ratio', 0.5],
    ['number', '.spec.text', null],
    ['boolean', '.spec.on', false],
    ['boolean', '.spec.text', null],
    ['date', '.metadata.creationTimestamp', '60s'],
    ['date', '.spec.text', '<invalid>'],
    ['date', '.spec.count', null],
    ['date', '.spec.blank', '<unknown>'],
    ['date', '.spec.empty', null],
  ];
  it.each(cells)('API-435 a %s column of %s shows %j', (type, jsonPath, want) => {
    expect(cellOf({ type, jsonPath })).toBe(want);
  });
});

describe('JSONPath', () => {
  it.each([
    ['.spec.text', ['hello']],
    ['$.spec.text', ['hello']],
    ['.spec.list[0]', ['a']],
    ['.spec.list[-1]', ['c']],
    ['.spec.list[9]', []],
    ['.spec.list[*]', ['a', 'b', 'c']],
    ['.spec.list[1:]', ['b', 'c']],
    ['.spec.list[:2]', ['a', 'b']],
    ['.spec.list[::2]', ['a', 'c']],
    [".spec['text']", ['hello']],
    ['.metadata.annotations.example\\.com/a\\.b', ['yes']],
    [".metadata.annotations['example.com/a.b']", ['yes']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Failed')].status", ['False']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Failed']],
    ['.status.conditions[?(@.score>3)].type', ['Failed']],
    ['.status.conditions[?(@.score>=3)].type', ['Ready', 'Failed']],
    ['.status.conditions[?(@.score<7)].type', ['Ready']],
    ['.status.conditions[?(@.score<=7)].type', ['Ready', 'Failed']],
    ['.status.conditions[?(@.status)].type', ['Ready', 'Failed']],
    ['.status.conditions[?(@.nothing)].type', []],
    ['.status.conditions[?(@.score=="3")].type', []],
    ['.spec.deep..size', [2, 1]],
    ['.status.conditions.type', []],
    ['.spec.text.length', []],
    ['.', [widget]],
  ])('API-435 %s', (path, found) => {
    expect(findJsonPath(parseJsonPath(path), widget)).toEqual(found);
  });

  it.each(['spec', '.spec[', '.spec[]', '.spec[?(@.a==)]', '.spec[?(.a)]', '.spec[1', '.a b', '.spec.', '.a[x]'])(
    'API-435 %s is refused',
    (path) => {
      expect(() => parseJsonPath(path)).toThrow(JsonPathError);
    },
  );
});
