// Recognizes the variables that Kubernetes, like container links before it, sets for each Service
// of a namespace, prefixed with the Service's name. For a Service called `holdfast`, they have our
// prefix, and `HOLDFAST_PORT` is not the port to listen on:
//
//   HOLDFAST_PORT=tcp://10.0.0.1:9090   HOLDFAST_SERVICE_HOST   HOLDFAST_SERVICE_PORT[_NAME]
//   HOLDFAST_PORT_9090_TCP[_PROTO|_PORT|_ADDR]

const serviceAddress =
  /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const linkUrl = /^(tcp|udp|sctp):\/\/\S+:\d+$/;

/** The variable is the address of a Service, and not a setting of this server. */
export function isKubernetesVariable(name: string, value: string): boolean {
  return serviceAddress.test(name) || (name.endsWith("_PORT") && linkUrl.test(value));
}
