import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  defaultPluginNames,
  implementedPlugins,
  knownPlugins,
  pluginFlagProblems,
  selectedPlugins,
} from './plugin-selection.ts';

describe('--enable-admission-plugins and --disable-admission-plugins', () => {
  it.each([
    [[], [], []],
    [['ResourceQuota'], ['NodeRestriction', 'ServiceAccount'], []],
    [
      ['Nonsense'],
      ['Other'],
      ['enable-admission-plugins plugin "Nonsense" is unknown', 'disable-admission-plugins plugin "Other" is unknown'],
    ],
    [['NodeRestriction'], [], ['enable-admission-plugins plugin "NodeRestriction" is not one this server has']],
    [
      ['Priority', 'LimitRanger'],
      ['LimitRanger', 'Priority'],
      ['[LimitRanger Priority] in enable-admission-plugins and disable-admission-plugins overlapped'],
    ],
  ])('API-340 %j %j', (enable, disable, problems) => {
    expect(pluginFlagProblems({ enable, disable })).toEqual(problems);
  });

  it('API-340 run in upstream’s order', () => {
    const order = implementedPlugins.map((name) => knownPlugins.indexOf(name));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(new Set(knownPlugins).size).toBe(knownPlugins.length);
  });

  it('API-340 API-342 run by default, without the disabled and with the enabled ones', () => {
    const byDefault = defaultPluginNames({ authorization: 'AlwaysAllow' });
    expect(byDefault).not.toContain('OwnerReferencesPermissionEnforcement');
    expect(defaultPluginNames({ authorization: 'RBAC' })).toContain('OwnerReferencesPermissionEnforcement');
    const selected = selectedPlugins(byDefault, {
      enable: ['ServiceAccount'],
      disable: ['Priority', 'NodeRestriction'],
    });
    expect([...selected].toSorted()).toEqual(
      [...byDefault.filter((name) => name !== 'Priority'), 'ServiceAccount'].toSorted(),
    );
  });

  it('are those of docs/security.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');
    const rows = page
      .slice(page.indexOf('| plug-in |'))
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual([...implementedPlugins].toSorted());
  });
});
