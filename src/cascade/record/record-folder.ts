import { isAbsolute, join } from 'node:path';

/** The environment variables that say where records are. */
export interface FolderEnvironment {
  readonly XDG_STATE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
}

/**
 * Folder of the records: the one given, else `kubegc/cascades` under the XDG state folder (CAS-061).
 * Undefined when there is neither a flag nor a home folder.
 */
export function recordFolder(given: string | undefined, environment: FolderEnvironment): string | undefined {
  if (given !== undefined) return given;
  const { XDG_STATE_HOME: state, HOME: home } = environment;
  // The XDG base directory specification says that a relative path is to be ignored.
  if (state !== undefined && isAbsolute(state)) return join(state, 'kubegc', 'cascades');
  return home === undefined || home === '' ? undefined : join(home, '.local', 'state', 'kubegc', 'cascades');
}
