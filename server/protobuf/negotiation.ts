// Determines the encoding of a request and that of its answer.

const json = "application/json";
const protobufTypes: readonly string[] = ["application/protobuf", "application/x-protobuf"];

/** The protobuf type in a `Content-Type`, without parameters; `null`: another type, or none. */
export function protobufTypeOf(contentType: string | null): string | null {
  if (contentType === null) return null;
  const name = nameOf(contentType);
  return protobufTypes.includes(name) ? name : null;
}

/**
 * Returns the protobuf type of the answer; `null`: JSON. `Accept` decides if it names either,
 * otherwise the type of the request: clients of the protocol send protobuf without an `Accept`, and
 * report JSON with an unknown key as an error.
 *
 * `sent`: the request's own protobuf type; `null`: it is not protobuf.
 */
export function answerType(request: Request, sent: string | null): string | null {
  const accept = request.headers.get("accept");
  if (accept === null || accept === "*/*") return sent;
  let preferred = sent;
  let weightMost = 0;
  for (const choice of accept.split(",")) {
    const name = nameOf(choice);
    const weight = Number(/;\s*q\s*=\s*([\d.]+)/i.exec(choice)?.[1] ?? 1);
    const isProtobuf = protobufTypes.includes(name);
    if (weight <= weightMost || !(isProtobuf || name === json)) continue;
    preferred = isProtobuf ? name : null;
    weightMost = weight;
  }
  return preferred;
}

function nameOf(type: string): string {
  const end = type.indexOf(";");
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}
