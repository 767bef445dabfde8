import { describe, expect, it } from 'vitest';
import { type ControllerSighting, finalizerEvidence } from './finalizer-evidence.ts';
import { isKubernetesFinalizer, knownFinalizer } from './known-finalizers.ts';

const sighting = (name: string, alive: boolean): ControllerSighting => ({
  what: `lease ops/${name}`,
  words: [name],
  alive,
  proof: alive ? 'was renewed 2s ago' : 'was renewed 3d ago',
});

describe('whether anything serves a finalizer', () => {
  it('CAS-031 says yes when something alive bears its domain', () => {
    expect(finalizerEvidence('acme.example.com/cleanup', undefined, [sighting('acme-operator', true)])).toEqual({
      served: 'yes',
      evidence: 'lease ops/acme-operator bears its name, and was renewed 2s ago',
    });
    expect(finalizerEvidence('x.io/y', 'shop-controller', [sighting('shop-controller', true)]).served).toBe('yes');
  });

  it('CAS-031 says no only when what bears its domain is not alive', () => {
    expect(finalizerEvidence('acme.example.com/cleanup', undefined, [sighting('acme-operator', false)])).toEqual({
      served: 'no',
      evidence: 'lease ops/acme-operator bears its name, but was renewed 3d ago',
    });
  });

  it('CAS-031 says unknown without evidence; the name of a person’s tool is none', () => {
    const others = [sighting('kubectl-helper', true), sighting('node-controller', true)];
    expect(finalizerEvidence('acme.example.com/cleanup', 'kubectl-edit', others).served).toBe('unknown');
    expect(finalizerEvidence('acme.example.com/cleanup', undefined, []).evidence).toContain('may run elsewhere');
  });

  it.each([
    ['foregroundDeletion', 'the garbage collector of the cluster removes it; no lease shows whether that runs'],
    ['orphan', 'the garbage collector of the cluster removes it; no lease shows whether that runs'],
    ['kubernetes', 'the namespace controller of the cluster removes it; no lease shows whether that runs'],
  ])('CAS-031 names the controller of every cluster that removes %s', (finalizer, evidence) => {
    expect(finalizerEvidence(finalizer, 'kube-apiserver', [])).toEqual({ served: 'unknown', evidence });
  });

  it('CAS-034b knows finalizers of Kubernetes, of pod groups, of kro and of the big operators', () => {
    expect(knownFinalizer('scheduling.k8s.io/compositepodgroup-protection')?.guards).toContain('pod groups');
    expect(knownFinalizer('kro.run/finalizer')?.removedBy).toBe('kro');
    expect(knownFinalizer('foregroundDeletion')?.removedBy).toBe('the garbage collector');
    expect(knownFinalizer('kubernetes.io/pvc-protection')?.removedBy).toContain('pvc-protection controller');
    expect(knownFinalizer('kubernetes.io/vac-protection')?.removedBy).toContain('volumeattributesclass-protection');
    expect(knownFinalizer('resources-finalizer.argocd.argoproj.io')?.removedBy).toBe('Argo CD');
    expect(knownFinalizer('acme.example.com/cleanup')).toBeUndefined();
    expect(isKubernetesFinalizer('kubernetes.io/pv-protection')).toBe(true);
    expect(isKubernetesFinalizer('acme.io/kubernetes')).toBe(false);
  });
});
