// The reply codes of the contract. The code is both the HTTP status and `code` in
// the body; no other place in the project writes one as a number.

export interface CodeMeaning {
  /** `code_text` in the body. */
  readonly text: string;
  /** What it says about the request, whatever the operation. */
  readonly meaning: string;
  /** What the client does about it. */
  readonly reaction: string;
}

export const replyCodes = {
  200: {
    text: "OK",
    meaning:
      "Success. What the reply says is in the store, as durably as the server is set up for.",
    reaction: "Nothing.",
  },
  400: {
    text: "Bad Request",
    meaning:
      "The request is malformed or breaks a rule: a required field is absent, a field is unknown, a value is out of bounds, the queue or partition does not exist, or a name is taken. Nothing changed.",
    reaction: "Correct the request. The same request will be refused again.",
  },
  401: {
    text: "Unauthorized",
    meaning:
      "The server requires an API key, and the header `Authorization` has none that it knows. Nothing changed.",
    reaction: "Send `Authorization: Bearer KEY` with an API key from the server's operator.",
  },
  403: {
    text: "Forbidden",
    meaning:
      "The `Host` or `Origin` header names a site that this server does not answer, which keeps other sites' pages from calling a server that your browser can reach; or the API key is for other operations or queues. Nothing changed.",
    reaction:
      "Call the server by its own address, or have its operator allow yours; use a key with the role that `message` names.",
  },
  404: {
    text: "Not Found",
    meaning: "No operation has this path. An unknown queue is 400, not 404.",
    reaction: "Correct the path.",
  },
  405: {
    text: "Method Not Allowed",
    meaning:
      "The path exists, but not for this method. The header `Allow` names the method it takes.",
    reaction: "Use POST for `/v1/…` and `/backup`, and GET for the probes and `/metrics`.",
  },
  413: {
    text: "Payload Too Large",
    meaning: "The body is larger than this operation takes. Nothing changed.",
    reaction: "Split the request.",
  },
  415: {
    text: "Unsupported Media Type",
    meaning:
      "The header `Content-Type` is absent, or is neither `application/json` nor `application/protobuf`. Nothing changed.",
    reaction: "Send `Content-Type: application/json`.",
  },
  429: {
    text: "Too Many Requests",
    meaning:
      "The server holds as many requests as it may, or too many wrong API keys came from your address. Nothing changed, unless `reason` is `in_part`.",
    reaction: "Wait for the seconds in the header `Retry-After`, then send the same request again.",
  },
  453: {
    text: "Request Failed",
    meaning:
      "The request is valid, but the state of the queue or of an item forbids it. Nothing changed.",
    reaction: "Read `message` and `details`. Take out what they name, and send the rest again.",
  },
  454: {
    text: "Retry Request",
    meaning:
      "`request_timeout` passed: no item came, or the work could not be done in time. Nothing changed.",
    reaction: "Send the same request again, at once if you like.",
  },
  500: {
    text: "Internal Service Error",
    meaning:
      "The store failed, for instance because its disk is full. Nothing changed, unless `reason` is `in_part`.",
    reaction: "Send the same request again later. The server's log has the cause.",
  },
  503: {
    text: "Service Unavailable",
    meaning:
      "The server is shutting down, or is not able to serve yet. Nothing changed, unless `reason` is `in_part`.",
    reaction:
      "Wait for the seconds in the header `Retry-After`, then send the same request again, until the server is back.",
  },
  504: {
    text: "Gateway Timeout",
    meaning: "The store did not answer in time. The request may have been carried out or not.",
    reaction:
      "Send the same request again with the same `Idempotency-Key`; without one, first find out what became of it.",
  },
} as const satisfies Record<number, CodeMeaning>;

export type ReplyCode = keyof typeof replyCodes;
