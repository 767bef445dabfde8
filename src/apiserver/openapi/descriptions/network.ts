import type { FieldTexts } from './field-texts.ts';

const APP_PROTOCOL = 'Application protocol of the port, such as kubernetes.io/h2c; a hint.';

export const NETWORK: FieldTexts = {
  'core.ServiceSpec': {
    allocateLoadBalancerNodePorts: 'Whether a LoadBalancer gets node ports too; yes unless set.',
    clusterIP:
      'Address inside the cluster, given by the server. None: no address, the name leads to the pods themselves.',
    clusterIPs: 'Addresses inside the cluster, one per family; the first is clusterIP.',
    externalIPs: 'Addresses whose traffic nodes accept for the Service; somebody else has to lead it there.',
    externalName: 'Name the Service is an alias of, for type ExternalName.',
    externalTrafficPolicy:
      'Where traffic from outside goes: Cluster (any pod) or Local (pods of the node it came to; the address of the client is kept).',
    healthCheckNodePort: 'Port by which load balancers ask nodes whether they have a pod; for Local.',
    internalTrafficPolicy: 'Where traffic from inside goes: Cluster (any pod) or Local (pods of the same node).',
    ipFamilies: 'IPv4, IPv6 or both, in order.',
    ipFamilyPolicy: 'SingleStack, PreferDualStack or RequireDualStack.',
    loadBalancerClass: 'Which implementation makes the load balancer. Cannot be changed.',
    loadBalancerIP: 'Address wished for the load balancer; many ignore it.',
    loadBalancerSourceRanges: 'Ranges of addresses the load balancer lets in.',
    ports: 'Ports of the Service.',
    publishNotReadyAddresses: 'Pods count also while they are not ready.',
    selector: 'Labels of the pods traffic goes to. Without it somebody else writes the EndpointSlices.',
    sessionAffinity: 'ClientIP sends a client to the same pod each time; None does not.',
    sessionAffinityConfig: 'For how long.',
    trafficDistribution: 'Which pods are preferred, such as PreferSameZone or PreferSameNode.',
    type: 'ClusterIP, NodePort (a port of every node), LoadBalancer (an address outside), or ExternalName (an alias).',
  },
  'core.ServicePort': {
    appProtocol: APP_PROTOCOL,
    name: 'Name of the port; needed when there are several.',
    nodePort: 'Port on every node, given by the server unless set.',
    port: 'Port of the Service.',
    protocol: 'TCP, UDP or SCTP.',
    targetPort: 'Port of the pods, by number or name; the same as port unless set.',
  },
  'core.SessionAffinityConfig': { clientIP: 'Settings for ClientIP.' },
  'core.ClientIPConfig': {
    timeoutSeconds: 'Seconds for which a client goes to the same pod; three hours unless set.',
  },
  'core.ServiceStatus': { loadBalancer: 'Where the load balancer is.' },
  'core.LoadBalancerStatus': { ingress: 'Addresses under which the Service is reached from outside.' },
  'core.LoadBalancerIngress': {
    hostname: 'Name, for load balancers that have no fixed address.',
    ip: 'Address.',
    ipMode: 'VIP: nodes may answer for the address; Proxy: traffic has to go through the load balancer.',
    ports: 'State of each port.',
  },
  'core.PortStatus': {
    error: 'Problem with the port.',
    port: 'Number of the port.',
    protocol: 'TCP, UDP or SCTP.',
  },
  'core.Endpoints': { subsets: 'Addresses that share ports.' },
  'core.EndpointSubset': {
    addresses: 'Addresses that are ready.',
    notReadyAddresses: 'Addresses that are not ready.',
    ports: 'Ports of these addresses.',
  },
  'core.EndpointAddress': {
    hostname: 'Host name of the address.',
    ip: 'Address of a pod, or of something outside.',
    nodeName: 'Node it is on.',
    targetRef: 'The pod behind it.',
  },
  'core.EndpointPort': {
    appProtocol: APP_PROTOCOL,
    name: 'Name of the port of the Service.',
    port: 'Number of the port.',
    protocol: 'TCP, UDP or SCTP.',
  },
  'discovery.EndpointSlice': {
    addressType: 'IPv4, IPv6 or FQDN. Cannot be changed.',
    endpoints: 'Up to 1000 endpoints, which share ports.',
    ports: 'Ports of these endpoints.',
  },
  'discovery.Endpoint': {
    addresses: 'Addresses of the endpoint; only the first is used.',
    conditions: 'Whether it takes traffic.',
    deprecatedTopology: 'Where it is, in the older form.',
    hints: 'Clients that should use the endpoint.',
    hostname: 'Host name of the endpoint.',
    nodeName: 'Node it is on.',
    targetRef: 'The pod behind it.',
    zone: 'Zone it is in.',
  },
  'discovery.EndpointConditions': {
    ready: 'Takes new traffic; never while it is ending.',
    serving: 'Could take traffic, be it ending or not.',
    terminating: 'It is ending.',
  },
  'discovery.EndpointHints': {
    forNodes: 'Nodes whose traffic should come here.',
    forZones: 'Zones whose traffic should come here.',
  },
  'discovery.EndpointPort': {
    appProtocol: APP_PROTOCOL,
    name: 'Name of the port of the Service.',
    port: 'Number of the port.',
    protocol: 'TCP, UDP or SCTP.',
  },
  'networking.IngressSpec': {
    defaultBackend: 'Where requests go that no rule fits.',
    ingressClassName: 'IngressClass that serves it; the default one unless set.',
    rules: 'Which host and path lead where.',
    tls: 'Certificates for hosts.',
  },
  'networking.IngressRule': {
    host: 'Host the rule is for, such as shop.example or *.shop.example; all when empty.',
    http: 'Paths of the host.',
  },
  'networking.HTTPIngressRuleValue': { paths: 'Paths; the longest that fits wins.' },
  'networking.HTTPIngressPath': {
    backend: 'Where requests go.',
    path: 'Path to compare with; begins with a slash.',
    pathType: 'Exact, Prefix (by elements of the path) or ImplementationSpecific.',
  },
  'networking.IngressBackend': {
    resource: 'An object of another kind, in the same namespace.',
    service: 'A Service.',
  },
  'networking.IngressServiceBackend': {
    name: 'Name of the Service, in the same namespace.',
    port: 'Port of the Service.',
  },
  'networking.ServiceBackendPort': { name: 'Name of the port.', number: 'Number of the port.' },
  'networking.IngressTLS': {
    hosts: 'Hosts the certificate is for.',
    secretName: 'Secret of type kubernetes.io/tls with the certificate.',
  },
  'networking.IngressStatus': { loadBalancer: 'Where requests have to be sent.' },
  'networking.IngressLoadBalancerStatus': { ingress: 'Addresses under which it is reached.' },
  'networking.IngressLoadBalancerIngress': {
    hostname: 'Name, where there is no fixed address.',
    ip: 'Address.',
    ports: 'State of each port.',
  },
  'networking.IngressClassSpec': {
    controller: 'Controller that serves the class, such as example.com/ingress. Cannot be changed.',
    parameters: 'Further settings of the controller.',
  },
  'networking.NetworkPolicySpec': {
    egress: 'Traffic the pods may send. With Egress among the types and no rule: none.',
    ingress: 'Traffic the pods accept. With Ingress among the types and no rule: none.',
    podSelector: 'Pods the policy is for. Empty: all of the namespace.',
    policyTypes:
      'Directions it is about: Ingress, Egress or both. Ingress, and Egress where there are rules for it, unless set.',
  },
  'networking.NetworkPolicyIngressRule': {
    from: 'Allowed senders; everybody when empty.',
    ports: 'To which ports; all when empty.',
  },
  'networking.NetworkPolicyEgressRule': {
    ports: 'To which ports; all when empty.',
    to: 'To whom it may be sent; everybody when empty.',
  },
  'networking.NetworkPolicyPeer': {
    ipBlock: 'Whoever has an address in a range; no selector may stand beside it.',
    namespaceSelector: 'All pods of these namespaces, or those that podSelector picks there.',
    podSelector: 'Pods of the same namespace, or of those that namespaceSelector picks.',
  },
  'networking.NetworkPolicyPort': {
    endPort: 'Last port of a range that begins with port.',
    port: 'Number or name of the port; all when absent.',
    protocol: 'TCP, UDP or SCTP; TCP unless set.',
  },
  'networking.IPBlock': {
    cidr: 'Range of addresses, such as 192.0.2.0/24.',
    except: 'Ranges in it that are left out.',
  },
};
