import type { RuntimeImage } from '../inventory/runtime.ts';

const CHARACTERS = /[\\^$.|?+()[\]{}]/g;

/** `*` stands for any text, `?` for one character. Linear: a run of stars is one. */
function globToPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/\*+/g, '*')
    .split(/([*?])/)
    .map((part) => (part === '*' ? '.*' : part === '?' ? '.' : part.replaceAll(CHARACTERS, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`, 's');
}

/** The repository of a reference: without tag and digest. The port of a registry is no tag. */
export function repositoryOf(reference: string): string {
  const name = reference.split('@')[0] ?? '';
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

/** The short names by which people write references of Docker's registry. */
function spellings(reference: string): string[] {
  const short = reference.replace(/^docker\.io\/(?:library\/)?/, '');
  return short === reference ? [reference] : [reference, short];
}

export interface ReferencePattern {
  readonly text: string;
  /** The object that has it; undefined: the settings of this node. */
  readonly source?: string;
  matches(image: RuntimeImage): boolean;
}

const HEX = /^(?:sha256:)?[0-9a-f]{12,64}$/;

/**
 * A pattern of the protect list (NODE-212): an id (12 digits or more), a digest, or a reference. A reference without tag means every tag; `*` and
 * `?` are globs.
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

/** True when a glob of a repository (no tag) matches one of the image's repositories. */
export function repositoryMatcher(glob: string): (repository: string) => boolean {
  const pattern = globToPattern(glob);
  return (repository) => spellings(repository).some((each) => pattern.test(each));
}

/** Repositories of an image, each once, in order. */
export function repositoriesOf({ tags, digests }: RuntimeImage): string[] {
  return [...new Set([...tags, ...digests].map(repositoryOf))].filter((each) => each !== '').toSorted();
}
