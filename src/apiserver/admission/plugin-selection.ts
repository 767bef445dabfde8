import { quoted } from '../../api/meta/quoted.ts';

/** The plug-ins of kube-apiserver 1.36 in the order in which they run (API-340), including those that this server lacks. */
export const knownPlugins = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  'JobValidation',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const;

export type PluginName = (typeof knownPlugins)[number];

/** The plug-ins that this server has. */
export const implementedPlugins = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
] as const satisfies readonly PluginName[];

export type ImplementedPlugin = (typeof implementedPlugins)[number];

/**
 * The default plug-ins. Plug-ins that depend on controllers are not among them: without its controller, no namespace has the account that
 * ServiceAccount requires, and nothing that StorageObjectInUseProtection protects is ever deleted.
 */
export function defaultPluginNames({
  authorization,
}: {
  readonly authorization: string;
}): readonly ImplementedPlugin[] {
  const off = new Set<ImplementedPlugin>(['ServiceAccount', 'StorageObjectInUseProtection']);
  // Off by default upstream; on here with RBAC (API-342).
  if (authorization !== 'RBAC') off.add('OwnerReferencesPermissionEnforcement');
  return implementedPlugins.filter((name) => !off.has(name));
}

/** The values of `--enable-admission-plugins` and `--disable-admission-plugins`. */
export interface PluginFlags {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/** The problems of the flags, in kube-apiserver's words. A name that this server does not know is a problem, too. */
export function pluginFlagProblems({ enable, disable }: PluginFlags): readonly string[] {
  const known = new Set<string>(knownPlugins);
  const implemented = new Set<string>(implementedPlugins);
  const unknown = (flag: string, names: readonly string[]): string[] =>
    names.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${quoted(name)} is unknown`);
  const missing = enable
    .filter((name) => known.has(name) && !implemented.has(name))
    .map((name) => `enable-admission-plugins plugin ${quoted(name)} is not one this server has`);
  const both = [...new Set(enable.filter((name) => disable.includes(name)))].toSorted();
  return [
    ...unknown('enable-admission-plugins', enable),
    ...unknown('disable-admission-plugins', disable),
    ...missing,
    ...(both.length === 0
      ? []
      : [`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]),
  ];
}

/** The default plug-ins, without the disabled ones and with the enabled ones. */
export function selectedPlugins(
  byDefault: readonly ImplementedPlugin[],
  { enable, disable }: PluginFlags,
): ReadonlySet<ImplementedPlugin> {
  return new Set(
    implementedPlugins.filter((name) => enable.includes(name) || (byDefault.includes(name) && !disable.includes(name))),
  );
}
