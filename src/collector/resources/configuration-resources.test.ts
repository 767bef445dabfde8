import { expect, it } from 'vitest';
import { configurationEffect } from './configuration-resources.ts';

it.each([
  ['apiextensions.k8s.io', 'customresourcedefinitions', 'discovery'],
  ['apiregistration.k8s.io', 'apiservices', 'discovery'],
  ['admissionregistration.k8s.io', 'validatingwebhookconfigurations', 'admission'],
  ['admissionregistration.k8s.io', 'mutatingadmissionpolicybindings', 'admission'],
  ['', 'configmaps', undefined],
  ['example.com', 'customresourcedefinitions', undefined],
])('BETTER-3 BETTER-8 %s %s: %s', (group, resource, effect) => {
  expect(configurationEffect({ group, resource })).toBe(effect);
});
