import type { RuntimeImage } from '../inventory/runtime.ts';

const CHARACTERS = /[\\^$.|?+()[\]{}]/g;

/** `*` stands for any text, `?` for one character. Several stars in a row count as one, so that matching stays linear. */
function globToPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/\*+/g, '*')
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part.replaceAll(CHARACTERS, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`, 's');
}

/** The repository of a reference, without tag and digest. The port of a registry is not a tag. */
export function repositoryOf(reference: string): string {
  const name = reference.split('@')[0] ?? '';
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

/** The reference itself, and the short name that people write for an image of Docker's registry. */
function spellings(reference: string): string[] {
  const short = reference.replace(/^docker\.io\/(?:library\/)?/, '');
  return short === reference ? [reference] : [reference, short];
}

export interface ReferencePattern {
  readonly text: string;
  /** The object that contains the pattern; undefined: the settings of this node. */
  readonly source?: string;
  matches(image: RuntimeImage): boolean;
}

const HEX = /^(?:sha256:)?[0-9a-f]{12,64}$/;

/**
 * A pattern of the protect list (NODE-212): an id (12 digits or more), a digest, or a reference. A reference without a tag matches every
 * tag; `*` and `?` are globs.
 */
export function parseReferencePattern(text: string): ReferencePattern {
  if (HEX.test(text)) {
    const digits = text.replace(/^sha256:/, '');
    const hasDigits = (reference: string): boolean => reference.replace(/^.*sha256:/, '').startsWith(digits);
    return { text, matches: ({ id, digests }) => hasDigits(id) || digests.some(hasDigits) };
  }
  const hasTag = text.includes('@') || text.lastIndexOf(':') > text.lastIndexOf('/');
  const pattern = globToPattern(text);
  const matchesReference = (reference: string): boolean =>
    spellings(reference).some((each) => pattern.test(each) || (!hasTag && pattern.test(repositoryOf(each))));
  return { text, matches: ({ tags, digests }) => tags.some(matchesReference) || digests.some(matchesReference) };
}

/** Returns a function that is true for each repository that this glob matches. The glob has no tag. */
export function repositoryMatcher(glob: string): (repository: string) => boolean {
  const pattern = globToPattern(glob);
  return (repository) => spellings(repository).some((each) => pattern.test(each));
}

/** Repositories of an image, sorted, without duplicates. */
export function repositoriesOf({ tags, digests }: RuntimeImage): string[] {
  return [...new Set([...tags, ...digests].map(repositoryOf))].filter((each) => each !== '').toSorted();
}
