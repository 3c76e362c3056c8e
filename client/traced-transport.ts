// A transport with spans for its produces, transacts and leases.

import type { OpenTelemetryApi } from "./opentelemetry.ts";
import { Tracing } from "./tracing.ts";
import type { Transport } from "./transport.ts";
import type { RequestFor } from "./wire.ts";

/** Adds spans to produces, transacts and leases, and `tracing` for a worker's items. */
export function traced(transport: Transport, api: OpenTelemetryApi, url: string): Transport {
  const tracing = new Tracing(api, url);
  return {
    ...transport,
    tracing,

    call(operation, request, options) {
      const call = () => transport.call(operation, request, options);
      switch (operation) {
        case "lease":
          return tracing.receive((request as RequestFor<"lease">).queue_name, call);
        case "transact":
          return tracing.transact(request as RequestFor<"transact">, options ?? {}, (carrying) =>
            transport.call(operation, carrying as typeof request, options),
          );
        default:
          return call();
      }
    },

    produce: (request, options = {}) =>
      tracing.publish(request, options, (carrying) => transport.produce(carrying, options)),
  };
}
