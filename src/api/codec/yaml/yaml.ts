import { Composer, stringify, YAMLParseError } from 'yaml';

import { messageOf } from '../../../base/errors/thrown.ts';
import { A_TURN, finished, type Steps } from '../../../base/time/steps.ts';
import { newBadRequest, StatusError } from '../../status-error.ts';
import { composeFirst, type ComposeOptions } from './yaml-compose.ts';
import { TextLines } from './yaml-lines.ts';
import { convertYamlNode } from './yaml-nodes.ts';
import { GO_YAML_SCALARS } from './yaml-scalars.ts';
import { boundedTokens, tokenSteps, type YamlSource } from './yaml-tokens.ts';
import { MAX_OBJECT_MEMBERS } from '../json/body-values.ts';
import { wellFormedValue } from '../json/well-formed.ts';

export interface YamlValue {
  readonly value: unknown;
  /** `line 4: key "a" already set in map` for each repeated key of a mapping (API-231). The last value won. */
  readonly repeated: string[];
}

/** How every text is read. */
export const PARSING: ComposeOptions = {
  version: '1.1',
  schema: 'failsafe',
  customTags: [...GO_YAML_SCALARS],
  // Merge keys and duplicates are handled by the converter, which also bounds aliases.
  merge: false,
  uniqueKeys: false,
  logLevel: 'silent',
};

/**
 * The first document of a YAML 1.1 text as JSON, with the types of Go's `sigs.k8s.io/yaml`: see {@link GO_YAML_SCALARS}.
 * Merge keys and anchors are resolved. An empty text is null.
 *
 * @throws StatusError 400 `error converting YAML to JSON: yaml: …`
 */
export function parseYaml(text: string): unknown {
  return parseYamlStrict(text).value;
}

/** Maximum size of one body: some 30,000 lines of typical text. */
const MAX_BODY_TOKENS = 200_000;

/** The same for the body of a request, with its repeated keys. */
export function parseYamlStrict(text: string): YamlValue {
  return finished(yamlSteps(text));
}

/** The same with pauses, for a large body. */
export function* yamlSteps(text: string): Steps<YamlValue> {
  const source = sourceOf(text);
  try {
    // The text after the first document is ignored.
    const tokens = tokenSteps(source, MAX_BODY_TOKENS);
    const composed = yield* composeFirst(tokens, { length: text.length, options: PARSING });
    if (composed === undefined) return { value: null, repeated: [] };
    if (composed.problem !== undefined) throw composed.problem;
    yield Math.min(A_TURN, text.length);
    const { value, repeated } = convertYamlNode(composed.document, source, MAX_OBJECT_MEMBERS);
    yield Math.min(A_TURN, text.length);
    return { value: wellFormedValue(value, text), repeated };
  } catch (error) {
    throw yamlProblem(error, source.lines);
  }
}

/** A document and the line, counted from 1, where its content begins. */
export interface PlacedDocument {
  readonly value: unknown;
  readonly line: number;
}

/** {@link parseYamlDocuments} with the line of each document. */
export function parsePlacedDocuments(text: string): PlacedDocument[] {
  return Array.from(documentsOf(text)).filter(({ value }) => value !== null);
}

/** All documents of a text, without empty ones such as a comment between two separators. */
export function parseYamlDocuments(text: string): unknown[] {
  return Array.from(documentsOf(text), ({ value }) => value).filter((value) => value !== null);
}

/**
 * Writes YAML that YAML 1.1 and 1.2 readers read alike, in kubectl's style: keys sorted, lists not indented, long lines not folded, texts
 * of several lines as blocks.
 */
export function stringifyYaml(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    schema: 'failsafe',
    customTags: [...GO_YAML_SCALARS],
    compat: 'yaml-1.1',
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    blockQuote: 'literal',
    aliasDuplicateObjects: false,
  });
}

function* documentsOf(text: string): Generator<YamlValue & PlacedDocument> {
  const source = sourceOf(text);
  const { lines } = source;
  try {
    for (const document of new Composer(PARSING).compose(boundedTokens(source))) {
      const [problem] = document.errors;
      if (problem !== undefined) throw problem;
      const converted = convertYamlNode(document, source);
      const line = lines.linePos(document.contents?.range[0] ?? 0).line;
      yield { ...converted, value: wellFormedValue(converted.value, text), line };
    }
  } catch (error) {
    throw yamlProblem(error, lines);
  }
}

function sourceOf(text: string): YamlSource {
  return { text, lines: new TextLines(text), longTexts: new Map() };
}

function yamlProblem(error: unknown, lines: TextLines): StatusError {
  if (error instanceof StatusError) return error;
  const text = messageOf(error);
  // The library's composer recurses, so deep nesting overflows the native stack, which is thrown or reported.
  const message = text.startsWith('Maximum call stack') ? 'exceeded max depth' : `${text}${placeOf(error, lines)}`;
  return newBadRequest(`error converting YAML to JSON: yaml: ${message}`);
}

function placeOf(error: unknown, lines: TextLines): string {
  if (!(error instanceof YAMLParseError) || error.pos[0] < 0) return '';
  const { line, col } = lines.linePos(error.pos[0]);
  return ` at line ${line}, column ${col}:`;
}
