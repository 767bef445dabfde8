/** A finalizer whose owner is known by its name. */
export interface KnownFinalizer {
  /** The program that removes it. */
  readonly removedBy: string;
  /** The damage or remains if a person removes it. */
  readonly guards: string;
}

interface Row extends KnownFinalizer {
  /** The whole name, or a prefix with `*`. */
  readonly name: string;
}

const KCM = 'kube-controller-manager';

const rows: readonly Row[] = [
  { name: 'foregroundDeletion', removedBy: 'the garbage collector', guards: 'dependents that block their owner' },
  { name: 'orphan', removedBy: 'the garbage collector', guards: 'dependents: they would be collected instead of kept' },
  {
    name: 'kubernetes',
    removedBy: `the namespace controller of ${KCM}`,
    guards: 'objects that are still in the namespace',
  },
  {
    name: 'kubernetes.io/pvc-protection',
    removedBy: `the pvc-protection controller of ${KCM}`,
    guards: 'data of pods that still use the claim',
  },
  {
    name: 'kubernetes.io/pv-protection',
    removedBy: `the pv-protection controller of ${KCM}`,
    guards: 'data of the claim that is bound to the volume',
  },
  {
    name: 'kubernetes.io/vac-protection',
    removedBy: `the volumeattributesclass-protection-controller of ${KCM}`,
    guards: 'claims and volumes that name the class',
  },
  {
    name: 'external-provisioner.volume.kubernetes.io/finalizer',
    removedBy: 'the CSI provisioner of the volume',
    guards: 'the disk behind the volume',
  },
  {
    name: 'external-attacher/*',
    removedBy: 'the CSI attacher of the volume',
    guards: 'a disk that stays attached to a node',
  },
  {
    name: 'snapshot.storage.kubernetes.io/*',
    removedBy: 'the CSI snapshot controller',
    guards: 'snapshots in the storage system',
  },
  {
    name: 'batch.kubernetes.io/job-tracking',
    removedBy: `the Job controller of ${KCM}`,
    guards: 'the count of finished pods',
  },
  {
    name: 'service.kubernetes.io/load-balancer-cleanup',
    removedBy: 'the service controller of the cloud-controller-manager',
    guards: 'a load balancer in the cloud',
  },
  {
    name: 'customresourcecleanup.apiextensions.k8s.io',
    removedBy: 'the API server, once no object of the definition is left',
    guards: 'objects of the definition, which would stay in etcd',
  },
  {
    name: 'scheduling.k8s.io/compositepodgroup-protection',
    removedBy: `the pod group controller of ${KCM}`,
    guards: 'pod groups that are part of the composite group',
  },
  {
    name: 'resource.kubernetes.io/delete-protection',
    removedBy: `the resource claim controller of ${KCM}`,
    guards: 'devices that are allocated',
  },
  { name: 'kro.run/*', removedBy: 'kro', guards: 'resources of the instance' },
  {
    name: 'resources-finalizer.argocd.argoproj.io',
    removedBy: 'Argo CD',
    guards: 'resources that the application deployed',
  },
  { name: 'finalizers.fluxcd.io', removedBy: 'Flux', guards: 'resources that Flux applied' },
  {
    name: 'finalizer.acme.cert-manager.io',
    removedBy: 'cert-manager',
    guards: 'DNS records and solver pods of the challenge',
  },
  {
    name: 'finalizer.managedresource.crossplane.io',
    removedBy: 'the Crossplane provider',
    guards: 'the resource in the cloud',
  },
  { name: 'composite.apiextensions.crossplane.io', removedBy: 'Crossplane', guards: 'composed resources' },
  { name: 'finalizer.apiextensions.crossplane.io', removedBy: 'Crossplane', guards: 'composite resources' },
  { name: 'cluster.cluster.x-k8s.io', removedBy: 'Cluster API', guards: 'machines and networks of the cluster' },
  { name: 'machine.cluster.x-k8s.io', removedBy: 'Cluster API', guards: 'the machine in the cloud' },
  { name: 'karpenter.sh/*', removedBy: 'Karpenter', guards: 'the machine in the cloud' },
  { name: 'ingress.k8s.aws/*', removedBy: 'the AWS load balancer controller', guards: 'a load balancer in the cloud' },
  { name: 'service.k8s.aws/*', removedBy: 'the AWS load balancer controller', guards: 'a load balancer in the cloud' },
  { name: 'elbv2.k8s.aws/*', removedBy: 'the AWS load balancer controller', guards: 'target groups in the cloud' },
  { name: 'networking.gke.io/*', removedBy: 'the GKE ingress controller', guards: 'a load balancer in the cloud' },
  { name: 'cephcluster.ceph.rook.io', removedBy: 'Rook', guards: 'disks and keys of the Ceph cluster' },
  { name: 'longhorn.io', removedBy: 'Longhorn', guards: 'replicas on the disks of nodes' },
  { name: 'strimzi.io/*', removedBy: 'Strimzi', guards: 'topics and users in Kafka' },
  { name: 'controller.cattle.io/*', removedBy: 'Rancher', guards: 'what Rancher made in the cluster' },
  { name: 'kubevirt.io/*', removedBy: 'KubeVirt', guards: 'the running virtual machine' },
  { name: 'istio-finalizer.install.istio.io', removedBy: 'the Istio operator', guards: 'the Istio control plane' },
  { name: 'chains.tekton.dev', removedBy: 'Tekton Chains', guards: 'signatures of the run' },
  { name: 'acid.zalan.do', removedBy: 'the Postgres operator', guards: 'the database' },
];

/** The facts about a finalizer by its name; undefined for unknown ones. */
export function knownFinalizer(name: string): KnownFinalizer | undefined {
  return rows.find((row) => (row.name.endsWith('*') ? name.startsWith(row.name.slice(0, -1)) : row.name === name));
}

/** True for finalizers that Kubernetes' own components remove. */
export const isKubernetesFinalizer = (name: string): boolean =>
  !name.includes('/')
    ? ['foregroundDeletion', 'orphan', 'kubernetes'].includes(name)
    : name.split('/')[0]!.endsWith('kubernetes.io');
