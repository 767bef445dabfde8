import { isPrintable } from '../../../api/meta/quoted.ts';

const MAX_FIELD_MANAGER_BYTES = 128;
/** Maximum number of cached user agents. Clients have few, and send them with every request. */
const MAX_KNOWN_AGENTS = 256;
const knownAgents = new Map<string, string>();

/** The field manager of a write (API-216): the client's own value, or the name of its program. May be empty. */
export function fieldManager(given: string | null, userAgent: string | undefined): string {
  if (given !== null && given !== '') return given;
  const agent = userAgent ?? '';
  let name = knownAgents.get(agent);
  if (name === undefined) {
    name = programOf(agent);
    if (knownAgents.size < MAX_KNOWN_AGENTS) knownAgents.set(agent, name);
  }
  return name;
}

/** The user agent up to the first slash, without unprintable characters, as much as fits. */
function programOf(userAgent: string): string {
  let name = '';
  let bytes = 0;
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_FIELD_MANAGER_BYTES) break;
    name += character;
  }
  return name;
}
