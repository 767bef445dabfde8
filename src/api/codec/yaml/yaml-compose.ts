import type { Document, DocumentOptions, Node, ParsedNode, ParseOptions, SchemaOptions, YAMLParseError } from 'yaml';
import { Composer, CST, isCollection, isMap, isPair } from 'yaml';

import { append } from '../../../base/collections/append.ts';
import { A_TURN, type Steps } from '../../../base/time/steps.ts';

export type ComposeOptions = DocumentOptions & ParseOptions & SchemaOptions;

export interface Composing {
  /** Characters of the text. */
  readonly length: number;
  readonly options: ComposeOptions;
  /** Characters that are composed in one step. */
  readonly piece?: number;
}

export interface Composed {
  /** Its contents are complete unless there is a problem. */
  readonly document: Document.Parsed<ParsedNode>;
  readonly problem: YAMLParseError | undefined;
}

type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
type Item = CST.CollectionItem;

/** Each character costs up to a microsecond. */
const PIECE = 4096;
const CHARACTERS_OF_A_UNIT = 10;
/** Tokens between two values, without white space and comments. From the seventh on, one of them is an error. */
const MAX_BETWEEN = 100;
/** Characters of a list or map as a key, which is refused in any case. */
const MAX_KEY = 4096;

/**
 * Composes the first document of the tokens, in which a number is a pause. Undefined if there is none.
 *
 * The library composes a document in one call. A large collection is therefore given to it in pieces: first without its items, then its
 * items, some at a time, as documents of their own. A large item is again a collection without items, and its pieces come next. Tokens
 * keep their offsets, so that errors name the same places.
 */
export function* composeFirst(
  tokens: Iterable<CST.Token | number>,
  { length, options, piece = PIECE }: Composing,
): Steps<Composed | undefined> {
  const whole: Whole = { length, options, piece, directives: [] };
  const composer = new Composer(options);
  let root: Collection | undefined;
  let first = true;
  for (const token of tokens) {
    if (typeof token === 'number') {
      yield token;
      continue;
    }
    if (token.type === 'directive' && first) whole.directives.push(token);
    let given: CST.Token = token;
    if (token.type === 'document') {
      if (!first) given = { type: 'document', offset: token.offset, start: token.start };
      else if (CST.isCollection(token.value) && length - token.value.offset > piece) {
        root = token.value;
        given = { ...token, value: withoutItems(root) };
      }
      given = firstErrors(given as CST.Document);
      first = false;
      // The parser has gone over all items of the last collection in this turn.
      yield Math.min(A_TURN, length);
    }
    for (const document of composer.next(given)) return yield* completed(document, root, whole);
  }
  for (const document of composer.end()) return yield* completed(document, root, whole);
  return undefined;
}

interface Whole extends Required<Composing> {
  readonly directives: CST.Directive[];
}

function* completed(document: Composed['document'], root: Collection | undefined, whole: Whole): Steps<Composed> {
  const [problem] = document.errors;
  if (root === undefined || (problem !== undefined && isBefore(problem, root))) return { document, problem };
  return { document, problem: (yield* fill(document.contents, root, whole)) ?? problem };
}

/** True for an error that the library finds before it reads the collection. */
function isBefore({ pos, message }: YAMLParseError, root: Collection): boolean {
  return pos[0] <= root.offset && !message.startsWith('Missing directives-end');
}

/** A collection whose items are being composed. */
interface Frame {
  readonly token: Collection;
  /** The node that gets the items. */
  readonly items: unknown[];
  /** The offset at which the text of the collection ends at the latest. */
  readonly limit: number;
  readonly root: boolean;
  /** An error that comes after those of the items. */
  readonly late: YAMLParseError | undefined;
  next: number;
  done: boolean;
  /** The offset at which the composed items end. */
  offset: number;
}

/** Composes the items of a collection into its node. Has an explicit stack, because texts nest deeply. */
function* fill(node: unknown, token: Collection, whole: Whole): Steps<YAMLParseError | undefined> {
  const frames: Frame[] = [frameOf(node, token, { limit: whole.length, root: true, late: undefined })];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.done) {
      if (frame.late !== undefined) return frame.late;
      frames.pop();
      const parent = frames.at(-1);
      if (parent !== undefined) parent.offset = frame.offset;
      continue;
    }
    const piece = nextPiece(frame, whole.piece);
    const { contents, problem } = composePiece(frame, piece, whole);
    const late = problem?.code === 'BLOCK_IN_FLOW' && problem.pos[0] === piece.large?.value.offset;
    if (problem !== undefined && !late) return problem;
    append(frame.items, contents);
    frame.next = piece.end;
    frame.done = isLast(frame, piece);
    if (piece.large !== undefined) {
      const { value, limit } = piece.large;
      const large = valueNode(contents.at(-1));
      // The library leaves out a value without a colon.
      if (isCollection(large)) frames.push(frameOf(large, value, { limit, root: false, late: problem }));
    }
    yield Math.ceil(piece.characters / CHARACTERS_OF_A_UNIT);
  }
  return undefined;
}

function frameOf(node: unknown, token: Collection, rest: Pick<Frame, 'limit' | 'root' | 'late'>): Frame {
  const { items } = node as { items: unknown[] };
  return { ...rest, token, items, next: 0, done: false, offset: token.offset };
}

/** Items of a collection that are composed together. A large item, of which only the value is large, is alone in its piece. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly characters: number;
  readonly large?: { readonly value: Collection; readonly limit: number };
}

/** The end of a collection is composed after its items, so that it reports its errors after theirs. */
function isLast({ token }: Frame, { end, large }: Piece): boolean {
  return end >= token.items.length && large === undefined;
}

function nextPiece({ token, next: start, limit }: Frame, most: number): Piece {
  const items = token.items as readonly Item[];
  let characters = 0;
  let end = start;
  for (; end < items.length && characters < most; end++) {
    const item = items[end]!;
    const stop = offsetOf(items[end + 1]) ?? limit;
    const size = Math.max(0, stop - (offsetOf(item) ?? stop));
    const { key, value } = item;
    if (CST.isCollection(key) && (item.sep?.[0] ?? value ?? { offset: stop }).offset - key.offset > MAX_KEY) {
      throw new Error('unsupported map key: a list or map that is too large');
    }
    if (!CST.isCollection(value) || stop - value.offset <= most) {
      characters += size;
    } else if (end > start) {
      break;
    } else {
      return { start, end: end + 1, characters: size - (stop - value.offset), large: { value, limit: stop } };
    }
  }
  return { start, end, characters };
}

function offsetOf(item: Item | undefined): number | undefined {
  return (item?.start[0] ?? item?.key ?? item?.sep?.[0] ?? item?.value)?.offset;
}

function composePiece(
  frame: Frame,
  piece: Piece,
  { options, directives }: Whole,
): { contents: unknown[]; problem: YAMLParseError | undefined } {
  const value = pieceToken(frame, piece);
  const { offset } = frame;
  // Only the root may be the document itself, because an unclosed list at the root has an error of its own.
  const inside: CST.BlockSequence = {
    type: 'block-seq',
    offset,
    indent: 0,
    items: [{ start: [source('seq-item-ind', '-', offset)], value }],
  };
  const document: CST.Document = {
    type: 'document',
    offset,
    start: [source('doc-start', '---', offset), source('newline', '\n', offset)],
    value: frame.root ? value : inside,
  };
  const [composed] = new Composer(options).compose([...directives, document]);
  const [problem] = composed?.errors ?? [];
  const node = contentsOf(composed, frame.root);
  if (node === undefined) return { contents: [], problem };
  const { firstItem, lastItem } = neighbours(frame, piece);
  const contents = node.items.slice(firstItem === undefined ? 0 : 1, lastItem === undefined ? undefined : -1);
  const ended = frame.token.type !== 'flow-collection' || isLast(frame, piece);
  frame.offset = (ended ? node.range?.[2] : endOf(contents.at(-1))) ?? frame.offset;
  return { contents, problem };
}

function contentsOf(
  document: Document.Parsed<ParsedNode> | undefined,
  root: boolean,
): { items: unknown[]; range?: Node['range'] } | undefined {
  const contents: unknown = document?.contents;
  const node = root ? contents : (contents as { items?: unknown[] } | null)?.items?.[0];
  return node as { items: unknown[]; range?: Node['range'] } | undefined;
}

/** The collection with the items of the piece alone. */
function pieceToken(frame: Frame, piece: Piece): Collection {
  const { token, offset } = frame;
  const items = (token.items as readonly Item[]).slice(piece.start, piece.end).map(firstErrorsOf);
  if (piece.large !== undefined) items[0] = { ...items[0]!, value: withoutItems(piece.large.value) };
  if (token.type !== 'flow-collection') return { ...token, offset, items } as Collection;
  const { firstItem, lastItem } = neighbours(frame, piece);
  return {
    ...token,
    items: [...(firstItem === undefined ? [] : [firstItem]), ...items, ...(lastItem === undefined ? [] : [lastItem])],
    end: isLast(frame, piece) ? firstTokens(token.end) : closed(token),
  };
}

/** An item without most of the tokens that are errors, because the library makes an error of each. */
function firstErrorsOf(item: Item): Item {
  const { start, key, sep, value } = item;
  if (!isLong(start) && !isLong(sep) && !isLong(endOfToken(key)) && !isLong(endOfToken(value))) return item;
  return {
    ...item,
    start: firstTokens(start),
    ...(key === undefined || key === null ? {} : { key: withShortEnd(key) }),
    ...(sep === undefined ? {} : { sep: firstTokens(sep) }),
    ...(value === undefined ? {} : { value: withShortEnd(value) }),
  } as Item;
}

/** The same for the tokens before and after the root. */
function firstErrors(document: CST.Document): CST.Document {
  const { start, end, value } = document;
  return {
    ...document,
    start: firstTokens(start),
    ...(end === undefined ? {} : { end: firstTokens(end) }),
    ...(value === undefined ? {} : { value: withShortEnd(value) }),
  };
}

function isLong(tokens: readonly CST.SourceToken[] | undefined): boolean {
  return tokens !== undefined && tokens.length > MAX_BETWEEN;
}

function endOfToken(token: CST.Token | null | undefined): CST.SourceToken[] | undefined {
  return token !== undefined && token !== null && 'end' in token ? token.end : undefined;
}

function withShortEnd<T extends CST.Token>(token: T): T {
  const end = endOfToken(token);
  return isLong(end) ? { ...token, end: firstTokens(end!) } : token;
}

function firstTokens(tokens: CST.SourceToken[]): CST.SourceToken[] {
  if (tokens.length <= MAX_BETWEEN) return tokens;
  let others = 0;
  const end = tokens.findIndex(({ type }) => !BLANKS.has(type) && ++others > MAX_BETWEEN);
  return end < 0 ? tokens : tokens.slice(0, end);
}

const BLANKS: ReadonlySet<string> = new Set(['space', 'newline', 'comment']);

/** Items of a flow collection stand between commas, so an empty item stands for those before a piece, and one for those after it. */
function neighbours({ token, offset }: Frame, piece: Piece): { firstItem?: Item; lastItem?: Item } {
  if (token.type !== 'flow-collection') return {};
  const empty: CST.FlowScalar = { type: 'scalar', offset, indent: token.indent, source: '' };
  const item = token.start.source === '{' ? { key: empty, sep: [] } : { value: empty };
  return {
    ...(piece.start > 0 ? { firstItem: { start: [], ...item } } : {}),
    ...(piece.end < token.items.length ? { lastItem: { start: [source('comma', ',', offset)], ...item } } : {}),
  };
}

function withoutItems(token: Collection): Collection {
  return token.type === 'flow-collection' ? { ...token, items: [], end: closed(token) } : { ...token, items: [] };
}

function closed({ start, offset }: CST.FlowCollection): CST.SourceToken[] {
  return start.source === '{' ? [source('flow-map-end', '}', offset)] : [source('flow-seq-end', ']', offset)];
}

function source(type: CST.SourceToken['type'], text: string, offset: number): CST.SourceToken {
  return { type, offset, indent: 0, source: text };
}

/** The node of the value of an item: in a flow list, an entry with a key is a map of its own. */
function valueNode(item: unknown): unknown {
  if (isPair(item)) return item.value;
  return isMap(item) && item.flow === true && item.items.length === 1 ? item.items[0]!.value : item;
}

function endOf(item: unknown): number | undefined {
  const node = isPair(item) ? (item.value ?? item.key) : item;
  return (node as Node | null | undefined)?.range?.[2];
}
