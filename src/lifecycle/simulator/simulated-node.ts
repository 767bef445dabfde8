import { SIMULATED } from '../../api/meta/annotations.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatMicroTime, formatTime } from '../../api/meta/time.ts';

const LEASE_SECONDS = 40;

/** The node that a kubelet would register: Ready, schedulable, without taints, with capacity for any test (LIFE-483, LIFE-530). */
export function simulatedNode(name: string, now: number): KubeObject {
  const at = formatTime(now);
  const fine = (type: string, reason: string, message: string) => ({
    type,
    status: type === 'Ready' ? 'True' : 'False',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
    reason,
    message,
  });
  const resources = { cpu: '1k', memory: '4Ti', pods: '110k', 'ephemeral-storage': '100Ti' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      annotations: { [SIMULATED]: 'true' },
    },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'Hostname', address: name },
      ],
      conditions: [
        fine('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        fine('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        fine('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        fine('Ready', 'KubeletReady', 'kubelet is posting ready status'),
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '',
        osImage: 'kubegc simulator: no container runs here',
        containerRuntimeVersion: 'simulated://1.0.0',
        kubeletVersion: 'v1.36.2',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  };
}

/** The lease that a kubelet would maintain. The node owns it, so it is deleted with the node (LIFE-200). */
export function simulatedLease(name: string, uid: string, now: number): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime: formatMicroTime(now) },
  };
}
