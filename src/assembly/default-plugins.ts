import { defaultPluginNames, type ImplementedPlugin } from '../apiserver/admission/plugin-selection.ts';
import type { ControllerName } from './controller-names.ts';

const PROTECTORS: readonly ControllerName[] = [
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
];

/**
 * The default admission plug-ins for these controllers. `StorageObjectInUseProtection` adds finalizers, so it is on only if the controllers
 * that remove them run.
 */
export function pluginsBeside(
  controllers: ReadonlySet<ControllerName>,
  options: Parameters<typeof defaultPluginNames>[0],
): ReadonlySet<ImplementedPlugin> {
  const plugins = new Set<ImplementedPlugin>(defaultPluginNames(options));
  if (PROTECTORS.every((name) => controllers.has(name))) plugins.add('StorageObjectInUseProtection');
  return plugins;
}
