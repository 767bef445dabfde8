import { v2Schema, type V2Schema } from './v2-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Paths } from './path-builder.ts';

/** Converts the operations of a v3 document to v2: bodies become parameters, and media types move to the operation. */
export function v2Paths(paths: Paths): Record<string, unknown> {
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, pathItem(item)]));
}

interface V3Operation {
  readonly parameters?: readonly V3Parameter[];
  readonly requestBody?: { readonly content: Content; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
  readonly [key: string]: unknown;
}

interface V3Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

function pathItem(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      key === 'parameters' ? (value as V3Parameter[]).map(parameter) : operation(value as V3Operation),
    ]),
  );
}

function operation({ parameters = [], requestBody, responses, ...rest }: V3Operation): Record<string, unknown> {
  const body = requestBody === undefined ? [] : [bodyParameter(requestBody)];
  const all = [...body, ...parameters.map(parameter)];
  const answers = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content));
  return {
    ...rest,
    consumes: Object.keys(requestBody?.content ?? { '*/*': {} }),
    produces: [...new Set(answers)],
    schemes: ['https'],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, { description, content }]) => [
        code,
        { description, ...schemaIn(content) },
      ]),
    ),
  };
}

function parameter({ name, in: place, required, schema }: V3Parameter): Record<string, unknown> {
  return { name, in: place, ...(required === undefined ? {} : { required }), ...v2Schema(schema) };
}

function bodyParameter({ content, required }: NonNullable<V3Operation['requestBody']>): Record<string, unknown> {
  // A body of an unknown kind is still a body.
  const { schema = { type: 'object' } } = schemaIn(content);
  return { name: 'body', in: 'body', ...(required === undefined ? {} : { required }), schema };
}

function schemaIn(content: Content = {}): { schema?: V2Schema } {
  const schema = Object.values(content)[0]?.schema;
  return schema === undefined ? {} : { schema: v2Schema(schema) };
}
