import { describe, expect, it } from 'vitest';
import { openApiV2Response } from './openapi-v2.ts';

const ask = (accept?: string) =>
  openApiV2Response({ method: 'GET', target: '/openapi/v2', headers: accept === undefined ? {} : { accept } });

describe('/openapi/v2 (API-418)', () => {
  it('is an empty document in protobuf for kubectl, which reads it before it takes a v1 List', () => {
    const { status, headers, body } = ask('application/com.github.proto-openapi.spec.v2@v1.0+protobuf');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    // swagger = 1, info = 2 { title = 1, version = 2 }, paths = 8 {}
    expect(Buffer.from(body as Uint8Array).toString('latin1')).toBe('\n\x032.0\x12\x0f\n\nKubernetes\x12\x01vB\x00');
  });

  it('is the same in JSON for everybody else', () => {
    expect(JSON.parse(Buffer.from(ask().body as Uint8Array).toString())).toEqual({
      swagger: '2.0',
      info: { title: 'Kubernetes', version: 'v' },
      paths: {},
    });
  });
});
