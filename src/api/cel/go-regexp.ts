import { RE2JS, RE2JSException, RE2JSSyntaxException } from '@bufbuild/re2';

/** A pattern that Go refuses, in Go's words: ``error parsing regexp: missing closing ): `(a` ``. */
export class GoRegexpError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GoRegexpError';
  }
}

/** Compiles a pattern. Throws {@link GoRegexpError} for each pattern that Go's `regexp.Compile` refuses. */
export function compileGoRegexp(pattern: string): GoRegexp {
  return new GoRegexp(pattern);
}

type Program = RE2JS['re2Input']['prog'];

/** Op codes of the compiled program (`Inst.ALT` … of the library, which does not export them). A test checks them. */
const OP = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, fail: 5, match: 6, nop: 7 } as const;

/** The conditions that hold between two characters, as bits (RE2's `EmptyOp`). */
const EMPTY = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 } as const;

/** A regular expression in RE2's syntax, matched in time linear in the text (`pattern` of schemas, `matches` and `find` of CEL). */
export class GoRegexp {
  readonly #compiled: RE2JS;

  constructor(pattern: string) {
    try {
      this.#compiled = new RE2JS(pattern);
    } catch (error) {
      // Go prints the pattern even if it is empty.
      if (error instanceof RE2JSSyntaxException) {
        throw new GoRegexpError(`error parsing regexp: ${error.getDescription()}: \`${error.getPattern() ?? ''}\``);
      }
      if (error instanceof RE2JSException) throw new GoRegexpError(error.message);
      throw error;
    }
  }

  /** True if the pattern matches anywhere in the text. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The leftmost match at or after `from`, as positions in UTF-16 units; undefined if there is none. */
  find(text: string, from = 0): readonly [number, number] | undefined {
    return new Search(this.#compiled.re2Input.prog, text).run(from);
  }
}

/** A thread of the search: its position in the program, and the start of its match. */
interface Thread {
  readonly pc: number;
  readonly start: number;
}

/**
 * The threads that wait at one position of the text, in order of preference. Each has its position in the program and the start of its
 * match.
 */
interface Position {
  readonly threads: Map<number, number>;
  /** Instructions already visited at this position. */
  readonly seen: Set<number>;
}

/**
 * Runs all threads through the program at once, in the order of preference, one character at a time (Pike's algorithm). The library only
 * returns whether there is a match, without its position.
 */
class Search {
  readonly #program: Program;
  readonly #text: string;

  constructor(program: Program, text: string) {
    this.#program = program;
    this.#text = text;
  }

  run(from: number): readonly [number, number] | undefined {
    let best: readonly [number, number] | undefined;
    let threads: readonly Thread[] = [];
    for (let at = from; at <= this.#text.length;) {
      const rune = this.#text.codePointAt(at);
      const next = new Map<number, number>();
      const position: Position = { threads: new Map(), seen: new Set() };
      const context = this.#context(at);
      for (const { pc, start } of threads) this.#follow(position, { pc, start }, context);
      if (best === undefined) this.#follow(position, { pc: this.#program.start, start: at }, context);
      if (position.threads.size === 0 && best !== undefined) return best;
      for (const [pc, start] of position.threads) {
        const instruction = this.#program.getInst(pc);
        if (instruction.op === OP.match) {
          best = [start, at];
          break;
        }
        if (rune !== undefined && instruction.matchRune(rune) && !next.has(instruction.out)) {
          next.set(instruction.out, start);
        }
      }
      threads = [...next].map(([pc, start]) => ({ pc, start }));
      at += rune === undefined || rune < 0x1_0000 ? 1 : 2;
    }
    return best;
  }

  /** Adds the instructions that wait for a character, in order of preference, each once. */
  #follow({ threads, seen }: Position, { pc: first, start }: Thread, context: number): void {
    const pending = [first];
    for (let pc = pending.pop(); pc !== undefined; pc = pending.pop()) {
      if (seen.has(pc)) continue;
      seen.add(pc);
      const { op, out, arg } = this.#program.getInst(pc);
      if (op === OP.alt || op === OP.altMatch) pending.push(arg, out);
      else if (op === OP.nop || op === OP.capture) pending.push(out);
      else if (op === OP.emptyWidth) {
        if ((arg & ~context) === 0) pending.push(out);
      } else if (op !== OP.fail) threads.set(pc, start);
    }
  }

  #context(at: number): number {
    const before = at === 0 ? undefined : this.#text.codePointAt(at - 1);
    const after = this.#text.codePointAt(at);
    const boundary = isWord(before) !== isWord(after) ? EMPTY.wordBoundary : EMPTY.noWordBoundary;
    return (
      boundary |
      (before === undefined ? EMPTY.beginText | EMPTY.beginLine : before === 0x0a ? EMPTY.beginLine : 0) |
      (after === undefined ? EMPTY.endText | EMPTY.endLine : after === 0x0a ? EMPTY.endLine : 0)
    );
  }
}

function isWord(rune: number | undefined): boolean {
  return rune !== undefined && rune < 0x80 && /\w/.test(String.fromCodePoint(rune));
}
