import { describe, expect, it } from 'vitest';
import { BodyBudget, MAX_BODIES_BYTES, MAX_CONNECTION_BODIES_BYTES } from './body-budget.ts';

describe('BodyBudget', () => {
  it('refuses a connection that would hold more than its share, and leaves room for others', () => {
    const budget = new BodyBudget();
    const [greedy, modest] = [{}, {}];
    expect(budget.take(greedy, MAX_CONNECTION_BODIES_BYTES)).toBe(true);
    expect(budget.take(greedy, 1)).toBe(false);
    expect(budget.take(modest, 1)).toBe(true);
    expect(budget.total).toBe(MAX_CONNECTION_BODIES_BYTES + 1);
  });

  it('refuses everybody when the server holds as much as it may, and takes more when some is released', () => {
    const budget = new BodyBudget();
    const connections = Array.from({ length: 6 }, () => ({}));
    const each = Math.floor(MAX_BODIES_BYTES / connections.length);
    for (const connection of connections) expect(budget.take(connection, each)).toBe(true);
    const late = {};
    expect(budget.take(late, each)).toBe(false);
    budget.giveBack(connections[0]!, each);
    expect(budget.take(late, each)).toBe(true);
  });
});
