// The reply codes of the contract. A code is both the HTTP status and `code` in the body.

export interface CodeMeaning {
  /** `code_text` in the body. */
  readonly text: string;
  /** For any operation. */
  readonly meaning: string;
  /** What a client should do. */
  readonly reaction: string;
}

export const replyCodes = {
  200: {
    text: "OK",
    meaning:
      "Success. The work that the reply acknowledges is in the store, with the durability that the server is configured for.",
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
      "The server requires an API key, and the header `Authorization` has no valid one. Nothing changed.",
    reaction: "Send `Authorization: Bearer KEY` with an API key from the server's operator.",
  },
  403: {
    text: "Forbidden",
    meaning:
      "The `Host` or `Origin` header names a site that is not allowed on this server, which protects a server that your browser can reach from pages of other sites; or the API key does not allow the operation or the queue. Nothing changed.",
    reaction:
      "Use the server's own address, or ask its operator to allow yours; use a key with the role that `message` names.",
  },
  404: {
    text: "Not Found",
    meaning: "No operation has this path. An unknown queue is 400, not 404.",
    reaction: "Correct the path.",
  },
  405: {
    text: "Method Not Allowed",
    meaning:
      "The path exists, but does not accept this method. The header `Allow` names the method that it accepts.",
    reaction: "Use POST for `/v1/…` and `/backup`, and GET for the probes and `/metrics`.",
  },
  413: {
    text: "Payload Too Large",
    meaning: "The body is larger than this operation accepts. Nothing changed.",
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
      "The server is at one of its limits, or too many invalid API keys were sent from your address. Nothing changed, unless `reason` is `in_part`.",
    reaction:
      "Wait for the number of seconds in the header `Retry-After`, then send the same request again.",
  },
  453: {
    text: "Request Failed",
    meaning:
      "The request is valid, but the state of the queue or of an item forbids it. Nothing changed.",
    reaction:
      "Read `message` and `details`. Remove the ids that they name, and send the rest again.",
  },
  454: {
    text: "Retry Request",
    meaning:
      "`request_timeout` passed: no item was available, or the call could not be carried out in time. Nothing changed.",
    reaction: "Send the same request again, without waiting if you like.",
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
      "The server is shutting down, or cannot serve requests yet. Nothing changed, unless `reason` is `in_part`.",
    reaction:
      "Wait for the number of seconds in the header `Retry-After`, then send the same request again until the server is back.",
  },
  504: {
    text: "Gateway Timeout",
    meaning: "The store did not answer in time. The request may have been carried out or not.",
    reaction:
      "Send the same request again with the same `Idempotency-Key`; without one, first check whether it was carried out.",
  },
} as const satisfies Record<number, CodeMeaning>;

export type ReplyCode = keyof typeof replyCodes;
