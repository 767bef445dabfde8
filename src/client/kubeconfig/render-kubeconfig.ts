export interface RenderKubeconfigOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  readonly caPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly token?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
  /** Default namespace of the context. */
  readonly namespace?: string;
  /** The name of cluster, user and context. */
  readonly name?: string;
}

/** A kubeconfig file with one cluster, one user and one context, in kubectl's format. */
export function renderKubeconfig(options: RenderKubeconfigOptions): string {
  const { server, caPem, insecureSkipTlsVerify, tlsServerName, token, clientCertificatePem, clientKeyPem, namespace } =
    options;
  const name = text(options.name ?? 'kubegc');
  const lines = (fields: readonly (readonly [key: string, value: string | undefined])[]): string =>
    fields.flatMap(([key, value]) => (value === undefined ? [] : [`    ${key}: ${value}\n`])).join('');
  const cluster = lines([
    ['certificate-authority-data', base64(caPem)],
    ['insecure-skip-tls-verify', insecureSkipTlsVerify === true ? 'true' : undefined],
    ['server', text(server)],
    ['tls-server-name', tlsServerName && text(tlsServerName)],
  ]);
  const context = lines([
    ['cluster', name],
    ['namespace', namespace && text(namespace)],
    ['user', name],
  ]);
  const user = lines([
    ['client-certificate-data', base64(clientCertificatePem)],
    ['client-key-data', base64(clientKeyPem)],
    ['token', token && text(token)],
  ]);
  return `apiVersion: v1
clusters:
- cluster:
${cluster}  name: ${name}
contexts:
- context:
${context}  name: ${name}
current-context: ${name}
kind: Config
users:
- name: ${name}
  user:${user === '' ? ' {}\n' : `\n${user}`}`;
}

function base64(pem: string | undefined): string | undefined {
  return pem === undefined ? undefined : Buffer.from(pem, 'utf8').toString('base64');
}

/** A JSON string is a YAML string. Plain words need no quotes, unless YAML would read them as another type. */
function text(value: string): string {
  const plain = /^[A-Za-z][A-Za-z0-9._-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return plain || /^https?:\/\/[A-Za-z0-9.[\]-]+(:\d+)?(\/[A-Za-z0-9._/-]*)?$/.test(value)
    ? value
    : JSON.stringify(value);
}
