import { isAbsolute, join } from 'node:path';

/** The environment variables that determine the folder of records. */
export interface FolderEnvironment {
  readonly XDG_STATE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
}

/**
 * The folder of records: the given one, otherwise `kubegc/cascades` under the XDG state folder (CAS-061). Undefined if there is neither a
 * flag nor a home folder.
 */
export function recordFolder(given: string | undefined, environment: FolderEnvironment): string | undefined {
  if (given !== undefined) return given;
  const { XDG_STATE_HOME: state, HOME: home } = environment;
  // The XDG specification says that a relative path is ignored.
  if (state !== undefined && isAbsolute(state)) return join(state, 'kubegc', 'cascades');
  return home === undefined || home === '' ? undefined : join(home, '.local', 'state', 'kubegc', 'cascades');
}
