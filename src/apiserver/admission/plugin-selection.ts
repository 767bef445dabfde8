import { quoted } from '../../api/meta/quoted.ts';

/** The plug-ins of kube-apiserver 1.36 in the order in which they run (API-340), whether this server has them or not. */
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

/** Those of them that this server has. */
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
 * Those that run unless somebody says otherwise. Not among them is what counts on controllers: without its one, no namespace has the
 * account that ServiceAccount asks for, and nothing that StorageObjectInUseProtection protects ever goes.
 */
export function defaultPluginNames({
  authorization,
}: {
  readonly authorization: string;
}): readonly ImplementedPlugin[] {
  const off = new Set<ImplementedPlugin>(['ServiceAccount', 'StorageObjectInUseProtection']);
  // Upstream leaves it off; here it is on where rights count at all (API-342).
  if (authorization !== 'RBAC') off.add('OwnerReferencesPermissionEnforcement');
  return implementedPlugins.filter((name) => !off.has(name));
}

/** What `--enable-admission-plugins` and `--disable-admission-plugins` say. */
export interface PluginFlags {
  readonly enable: readonly string[];
  readonly disable: readonly string[];
}

/** The problems of the flags, in kube-apiserver's words; empty when there are none. A name that is unknown here is a problem, too. */
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

/** The default plug-ins without the disabled ones, with the enabled ones. */
export function selectedPlugins(
  byDefault: readonly ImplementedPlugin[],
  { enable, disable }: PluginFlags,
): ReadonlySet<ImplementedPlugin> {
  return new Set(
    implementedPlugins.filter((name) => enable.includes(name) || (byDefault.includes(name) && !disable.includes(name))),
  );
}
