import type { Node } from '../pods/pod-object.ts';

/** The state of a node's machine. `unknown` means that the source has no answer, so the node is not changed. */
export type InstanceState = 'exists' | 'shutDown' | 'absent' | 'unknown';

/** The source of truth about machines. If it cannot answer, it throws; the message is logged and no node is changed. */
export interface InstanceSource {
  /** For log lines, like `inventory /etc/kubegc/nodes`. */
  readonly name: string;
  /** The state of the machine of each of these nodes, by the node's name. */
  states(nodes: readonly Node[], signal: AbortSignal): Promise<ReadonlyMap<string, InstanceState>>;
}

/** The machines of an inventory: names or provider ids, optionally followed by ` shutdown`. `#` begins a comment. */
type Inventory = ReadonlyMap<string, 'exists' | 'shutDown'>;

/**
 * Parses an inventory: a JSON list of strings and of objects with `name` or `providerID` and `shutdown`, or one machine per line. Throws
 * for other text, and for an empty one, because an empty file is more often a mistake than a cluster without machines.
 */
export function parseInventory(text: string): Inventory {
  const trimmed = text.trim();
  const machines = trimmed.startsWith('[') ? fromJson(trimmed) : fromLines(trimmed);
  if (machines.size === 0) throw new Error('the inventory is empty');
  return machines;
}

function fromLines(text: string): Inventory {
  const machines = new Map<string, 'exists' | 'shutDown'>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [name = '', state, ...more] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (name === '') continue;
    if ((state !== undefined && state !== 'shutdown') || more.length > 0) {
      throw new Error(`line ${index + 1} of the inventory is neither a machine nor a machine and "shutdown"`);
    }
    machines.set(name, state === undefined ? 'exists' : 'shutDown');
  }
  return machines;
}

function fromJson(text: string): Inventory {
  const machines = new Map<string, 'exists' | 'shutDown'>();
  const items = JSON.parse(text) as unknown[];
  for (const [index, item] of items.entries()) {
    const { name, providerID, shutdown } = (typeof item === 'string' ? { name: item } : (item ?? {})) as {
      name?: unknown;
      providerID?: unknown;
      shutdown?: unknown;
    };
    const id = name ?? providerID;
    if (typeof id !== 'string' || id === '')
      throw new Error(`machine ${index} of the inventory has no name or providerID`);
    machines.set(id, shutdown === true ? 'shutDown' : 'exists');
  }
  return machines;
}

/** The state of a node by an inventory, which contains its name or its provider id. */
export function stateIn(inventory: Inventory, node: Node): InstanceState {
  const { providerID = '' } = node.spec ?? {};
  return (
    inventory.get(node.metadata?.name ?? '') ?? (providerID === '' ? undefined : inventory.get(providerID)) ?? 'absent'
  );
}

/** A source that reads the whole inventory in each pass. */
export function inventorySource(name: string, read: (signal: AbortSignal) => Promise<string>): InstanceSource {
  return {
    name,
    states: async (nodes, signal) => {
      const inventory = parseInventory(await read(signal));
      return new Map(nodes.map((node) => [node.metadata?.name ?? '', stateIn(inventory, node)]));
    },
  };
}
