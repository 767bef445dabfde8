import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * The rules are sentences in docs/rules, one for each id: whoever reads an id in a comment, a test or a design finds its sentence there.
 * Each file and each heading of a page that a comment names exists.
 */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const rulesFolder = join(root, 'docs/rules');

/** Which rules a page may contain, by its name. */
const prefixesOf: Record<string, readonly string[]> = {
  'apiserver.md': ['API'],
  'cascade.md': ['CAS'],
  'collector.md': ['COL', 'BETTER'],
  'lifecycle.md': ['LIFE'],
  'node.md': ['NODE'],
};

const pages = readdirSync(rulesFolder);
const sentences = pages.flatMap((page) =>
  [...readFileSync(join(rulesFolder, page), 'utf8').matchAll(/^\* \*\*([A-Z]+-\w+)\*\* (.+(?:\n {2,}\S.*)*)$/gm)].map(
    ([, id = '', sentence = '']) => ({ page, id, sentence }),
  ),
);

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return /\.(?:ts|mjs|md|sh|ya?ml)$/.test(entry.name) ? [path] : [];
  });
}

const folders = ['src', 'test', 'docs', 'designs', 'scripts', 'bench'];
const generated = /^docs\/(?:coverage|mutation)\.md$|\.generated\.ts$/;
const files = folders.flatMap(filesBelow).filter((file) => !generated.test(file));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Ids in a text; `API-191, 192 and 195/197` names four. */
function idsIn(text: string): string[] {
  const cited = text.matchAll(
    /(?<![\w-])(COL|BETTER|API|LIFE|NODE|CAS)-(\d\w*)((?:(?:, ?|,? and |\/)\d\w{2}\b(?!-))*)/g,
  );
  return [...cited].flatMap(([, prefix, first = '', rest = '']) =>
    [first, ...rest.split(/\W+/).filter((part) => /^\d\w{2}$/.test(part))].map((number) => `${prefix}-${number}`),
  );
}

/** Comments of a TypeScript file, each line without its marks. */
function commentsOf(text: string): string {
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/[^\n]*/g) ?? [];
  return comments.join('\n').replace(/^\s*(?:\/\*\*?|\*\/?|\/\/)/gm, '');
}

describe('the rules', () => {
  it('are sentences, each in the page of its area, and each once', () => {
    const wrong = [
      ...sentences.filter(({ page, id }) => !prefixesOf[page]?.includes(id.split('-')[0] ?? '')),
      ...sentences.filter(({ sentence }) => !/^[A-Z`'].*[.]$/s.test(sentence)),
      ...sentences.filter(({ id }, at) => sentences.findIndex((other) => other.id === id) !== at),
    ];
    expect(wrong).toEqual([]);
    expect(sentences.length).toBeGreaterThan(500);
  });

  it('have a sentence for every id that is cited anywhere', () => {
    const known = new Set(sentences.map(({ id }) => id));
    const unknown = files.flatMap((file) =>
      idsIn(textOf(file))
        .filter((id) => !known.has(id))
        .map((id) => `${file} cites ${id}, which has no sentence in docs/rules`),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('reads shortened lists of ids', () => {
    expect(idsIn('API-191, 192 and 195/197; COL-05A')).toEqual(['API-191', 'API-192', 'API-195', 'API-197', 'COL-05A']);
  });
});

describe('what a comment names', () => {
  const sources = files.filter((file) => /\.(?:ts|mjs)$/.test(file));
  const all = [...files, ...readdirSync(root), ...filesBelow('examples'), ...filesBelow('proto')];

  it('is a file that exists', () => {
    const missing = sources.flatMap((file) =>
      [...commentsOf(textOf(file)).matchAll(/(?<![\w/.@:<>-])((?:\.{0,2}[\w-]+\/)+[\w.-]+\.(?:ts|mjs|md|sh|json))\b/g)]
        .map(([, path = '']) => path)
        .filter((path) => !isFile(path, file))
        .map((path) => `${file} names ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('is a heading that exists', () => {
    const missing = files.flatMap((file) =>
      [...textOf(file).matchAll(/([\w/.-]+\.md), "([^"\n]+)"/g)]
        .filter(([, page = '', heading = '']) => !hasHeading(page, heading, file))
        .map(([all]) => `${file} names ${all}`),
    );
    expect(missing).toEqual([]);
  });

  /** Paths are from the root, from `src`, from the folder of the file, or the end of a path that says enough. */
  function isFile(path: string, from: string): boolean {
    return (
      [path, `src/${path}`, join(dirname(from), path)].some((each) => existsSync(join(root, each))) ||
      all.some((file) => file.endsWith(`/${path}`))
    );
  }

  function hasHeading(page: string, heading: string, from: string): boolean {
    const candidates = [page, join(dirname(from), page), ...all.filter((file) => file.endsWith(`/${page}`))];
    return candidates
      .filter((each) => existsSync(join(root, each)))
      .some((each) =>
        new RegExp(`^#+ ${heading.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`, 'm').test(
          textOf(relative(root, join(root, each)).split(sep).join('/')),
        ),
      );
  }
});
