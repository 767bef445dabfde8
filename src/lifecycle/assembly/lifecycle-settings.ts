import type { SimulationMode } from '../simulator/pod-reconcile.ts';

/** What can be set about the controllers that start on demand. What is left out has kube-controller-manager's default. */
export interface LifecycleSettings {
  readonly simulate?: SimulationSettings;
}

export interface SimulationSettings {
  /** Off unless given. */
  readonly pods?: SimulationMode;
  /** Simulated nodes; one when pods are simulated, else none. */
  readonly nodes?: number;
}
