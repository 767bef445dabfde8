// Finds prose that docs/STYLE.md forbids. `npm run words` prints each finding with its file and line, `npm run words -- ROOM` those of one room,
// and `npm run words -- --lower` writes the smaller counts into test/house/words.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const baselines = join(root, 'test/house/words');

/** Generated pages repeat prose that is checked at its source; the style page quotes the words that it forbids. */
const exempt = /^docs\/(?:coverage|mutation|STYLE)\.md$|^docs\/api\/|\.generated\.ts$|^test\/house\/words/;

const ids = /\b(?:COL|BETTER|API|LIFE|NODE|CAS)-\d\w*(?:(?:, ?|,? and |\/)\d\w{2}\b)*/g;

/** Each returns the offences in one piece of prose, from which code in backticks has been taken out. */
const checks = {
  // A question may begin with "What" or "Who".
  opening: ({ text, kind }) =>
    [...text.matchAll(/(?:^|[.!?]["')*]*\s+)["'(*]*((What|Of|Who|That which|what|of|who|that which) [^.!?]*[.!?]?)/g)]
      .filter(([all, sentence, word]) => {
        if (sentence.endsWith('?') || kind === 'heading') return false;
        return /^[WOT]/.test(word) || (kind === 'title' && all.indexOf(word) === 0);
      })
      .map(([, sentence]) => sentence),
  'as … so': ({ text }) => text.match(/(?:^|[.!?]\s+)As [^.!?]*, so\b/g) ?? [],
  'id alone': ({ text, kind }) =>
    kind === 'comment' && ids.test(text) && text.replaceAll(ids, '').replaceAll(/[\s,.;:()]|\band\b/g, '') === ''
      ? [text]
      : [],
  he: ({ text }) => text.match(/\b(?:he|his|him|himself|He|His)\b/g) ?? [],
  section: ({ text }) => (/\bRFC/.test(text) ? [] : (text.match(/\bsections? \d+/g) ?? [])),
  news: ({ text }) => text.match(/\bnews\b|\berrands?\b/gi) ?? [],
  doubt: ({ text }) => text.match(/\bdoubts?\b/gi) ?? [],
  end: ({ text }) => text.match(/\b(?:its|their|whose) ends?\b(?! (?:of|point))|\w['’]s ends?\b/g) ?? [],
  look: ({ text }) => text.match(/\ba look\b|\b(?:looks?|looked|looking) (?:at|into|after|again)\b/gi) ?? [],
  told: ({ text }) => text.match(/\b(?:told|tells?|telling)\b/gi) ?? [],
  'let go': ({ text }) => text.match(/\b(?:lets?|letting) go\b|\bput right\b|\b(?:gives?|gave|given) back\b/gi) ?? [],
};

/** Prose of a file: `{ line, kind, text }`. */
export function proseOf(file, content) {
  return (file.endsWith('.md') ? paragraphs(content) : ofCode(file, content)).map((piece) => ({
    ...piece,
    text: piece.text
      .replaceAll(/`[^`]*`|\{@link [^}]*\}/g, 'code')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }));
}

export function offencesIn(piece) {
  return Object.entries(checks).flatMap(([check, find]) => find(piece).map((found) => ({ check, found })));
}

function paragraphs(content) {
  const pieces = [];
  let open;
  let fenced = false;
  for (const [at, line] of content.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    if (fenced || /^\s*(?:$|```|~~~)/.test(line)) {
      open = undefined;
      continue;
    }
    const start = /^\s*(?:#+ |[*-] |\d+\. |\|)/.exec(line);
    if (open !== undefined && start === null) {
      open.text += `\n${line}`;
      continue;
    }
    const kind = line.startsWith('#') ? 'heading' : 'paragraph';
    if (line.startsWith('|')) {
      for (const cell of line.split('|')) pieces.push({ line: at + 1, kind: 'cell', text: cell });
      open = undefined;
      continue;
    }
    open = { line: at + 1, kind, text: line.slice(start?.[0].length ?? 0) };
    pieces.push(open);
    if (kind === 'heading') open = undefined;
  }
  return pieces;
}

const tokens =
  /(\/\*[\s\S]*?\*\/)|((?<![:\\])\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*)|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\\n])*`)/g;

/** Comments; of a test the titles; of the program its texts of four words and more, which are help, logs and errors. */
function ofCode(file, content) {
  const isTest = /\.(?:test|fixture)\.ts$/.test(file) || file.startsWith('test/');
  return [...content.matchAll(tokens)].flatMap((match) => {
    const [, block, lines, string] = match;
    const at = match.index;
    const line = content.slice(0, at).split('\n').length;
    const comment = block ?? lines;
    if (comment !== undefined) {
      if (/^\/\/\/? *(?:oxlint|eslint|@ts|<)/.test(comment)) return [];
      const text = comment.replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, '');
      return text
        .split(/\n\s*(?:- |\* |\n)/)
        .filter((part) => part.trim() !== '')
        .map((part) => ({ line, kind: 'comment', text: part }));
    }
    const text = string.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, 'code');
    if (isTest) {
      const title = /\b(it|test|describe)(?:\.\w+(?:\([^\n]*\))?)*\(\s*$/.exec(
        content.slice(Math.max(0, at - 200), at),
      );
      return title === null ? [] : [{ line, kind: title[1] === 'describe' ? 'heading' : 'title', text }];
    }
    return text.split(' ').length < 4 ? [] : [{ line, kind: 'text', text }];
  });
}

function roomOf(file) {
  const [top, second] = file.split('/');
  if (second === undefined) return 'pages';
  return top === 'src' ? `src-${second}` : top;
}

/** All prose of the repository: `{ file, room, line, kind, text }`. */
export function allProse() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((file) =>
      /^(?:(?:src|test)\/.*\.(?:ts|md)|(?:docs|designs|bench|scripts)\/.*\.(?:ts|mjs|md)|[\w-]+\.md)$/.test(file),
    )
    .filter((file) => !exempt.test(file) && existsSync(join(root, file)))
    .flatMap((file) =>
      proseOf(file, readFileSync(join(root, file), 'utf8')).map((piece) => ({ file, room: roomOf(file), ...piece })),
    );
}

/** Offences of each room, by check: `{ room: { check: [{ file, line, found }] } }`. */
export function offencesByRoom() {
  const rooms = {};
  for (const piece of allProse()) {
    for (const { check, found } of offencesIn(piece)) {
      ((rooms[piece.room] ??= {})[check] ??= []).push({ file: piece.file, line: piece.line, found });
    }
  }
  return rooms;
}

/** The counts in test/house/words: `{ room: { check: count } }`. */
export function allowed() {
  const files = existsSync(baselines) ? readdirSync(baselines) : [];
  return Object.fromEntries(
    files.map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(join(baselines, name), 'utf8'))]),
  );
}

function lower(found, { first = false } = {}) {
  mkdirSync(baselines, { recursive: true });
  const before = allowed();
  for (const room of new Set([...Object.keys(before), ...(first ? Object.keys(found) : [])])) {
    const counts = Object.keys(checks).flatMap((check) => {
      const count = found[room]?.[check]?.length ?? 0;
      const most = first ? count : Math.min(count, before[room]?.[check] ?? 0);
      return most === 0 ? [] : [[check, most]];
    });
    const file = join(baselines, `${room}.json`);
    if (counts.length === 0) rmSync(file, { force: true });
    else writeFileSync(file, `${JSON.stringify(Object.fromEntries(counts), null, 2)}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = offencesByRoom();
  const [argument] = process.argv.slice(2);
  if (argument === '--lower' || argument === '--first') lower(found, { first: argument === '--first' });
  else {
    for (const [room, byCheck] of Object.entries(found)) {
      if (argument !== undefined && argument !== room) continue;
      for (const [check, offences] of Object.entries(byCheck)) {
        for (const { file, line, found: text } of offences) console.log(`${file}:${line}: ${check}: ${text}`);
      }
    }
  }
}
