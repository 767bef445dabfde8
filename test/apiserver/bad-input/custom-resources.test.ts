import { describe } from 'vitest';
import { type BadRequest, BadInputServer, refusal, widgets } from './refusal.ts';

const { refuses } = new BadInputServer();

describe('custom resources', () => {
  const widget = (metadata: unknown, extra: object = {}): BadRequest => ({
    target: widgets,
    body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata, ...extra },
  });
  const cannot = 'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal ';
  refuses('API-234 metadata is typed', [
    ['text', widget('x'), refusal(400, `${cannot}string into Go struct field Widget.metadata of type v1.ObjectMeta`)],
    ['list', widget([]), refusal(400, `${cannot}array into Go struct field Widget.metadata of type v1.ObjectMeta`)],
    [
      'name',
      widget({ name: 3 }),
      refusal(400, `${cannot}number into Go struct field Widget.metadata.name of type string`),
    ],
    [
      'labels',
      widget({ name: 'x', labels: { a: 1 } }),
      refusal(400, `${cannot}number into Go struct field Widget.metadata.labels of type string`),
    ],
    [
      'finalizers',
      widget({ name: 'x', finalizers: 'a' }),
      refusal(400, `${cannot}string into Go struct field Widget.metadata.finalizers of type []string`),
    ],
    [
      'owners',
      widget({ name: 'x', ownerReferences: [3] }),
      refusal(400, `${cannot}number into Go struct field Widget.metadata.ownerReferences of type v1.OwnerReference`),
    ],
    [
      'absent',
      widget(undefined),
      refusal(422, 'Widget.example.com "" is invalid: metadata.name: Required value: name or generateName is required'),
    ],
    [
      'Strict',
      { ...widget({ name: 'x', labls: {} }), target: `${widgets}?fieldValidation=Strict` },
      refusal(
        400,
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.labls"',
      ),
    ],
  ]);
  refuses('API-150 their type', [
    [
      'kind',
      widget({ name: 'x' }, { kind: 'Gadget' }),
      refusal(422, 'Gadget.example.com "x" is invalid: kind: Invalid value: "Gadget": must be Widget'),
    ],
    [
      'another kind, and a name that is none',
      widget({ name: ['x', true] }, { kind: 'Gadget' }),
      refusal(422, 'Gadget.example.com "" is invalid: kind: Invalid value: "Gadget": must be Widget'),
    ],
    [
      'version',
      widget({ name: 'x' }, { apiVersion: 'example.com/v2' }),
      refusal(
        400,
        'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
      ),
    ],
    [
      'a kind without a version',
      { target: widgets, body: { kind: 'Widget', metadata: { name: 'x' } } },
      refusal(400, 'the API version in the data () does not match the expected API version (example.com/v1)'),
    ],
    [
      'none',
      { target: widgets, body: { metadata: { name: 'x' } } },
      refusal(400, "Object 'Kind' is missing in the request body"),
    ],
  ]);
});
